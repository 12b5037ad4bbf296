/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests predictions: what can be computed by hand, which mapping is better, and the file of costs.
 */
#include "pathmap/cost/cost.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tests/maps.h"
#include "tree/stage/stage.h"
#include "tests/tap.h"

static const char application[] =
	"application demo { ranks rank[0-15]; collect p2p; collect wait;"
	"view each { read latest; }"
	"view lasts { read latest; thread reduce last; cluster reduce last; all reduce last; } }";
static const char cluster[] =
	"cluster A { nodes a[0-7]; address a[0-7].example:1; gateway ga; }"
	"cluster B { nodes b[0-7]; address b[0-7].example:1; }"
	"node ga { address ga.example:1; } node front { address front.example:1; }";
static const char places[] = "entry front; place rank[0-15] on a[0-7] b[0-7];";

static const struct calibration simple = {
	.wake_us = 10,
	.latency_us = 1,
	.frame_us = 5,
	.encrypt_ns = 1,
	.copy_ns = 1,
	.read_ns = 100,
	.stage_ns = 100,
	.cold_us = 40,
	.cores = 2,
};

static struct cost predicted(const char *clusters, const char *tree, const char *view)
{
	char *mapping = memory_format("%s %s", places, tree);
	const struct map_text texts[3] = {
		{application, strlen(application)},
		{clusters, strlen(clusters)},
		{mapping, strlen(mapping)},
	};
	struct pathmap *map = maps_make(texts, stage_check, stderr);
	struct plan *plan;
	struct cost cost;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, view, &plan, NULL), 0);
	cost_predict(&cost, plan, map, &simple, 16);
	/* What the hosts are called is not looked at any more. */
	plan_free(plan);
	pathmap_free(map);
	free(mapping);
	return cost;
}

static double rate(const char *clusters, const char *tree)
{
	struct cost cost = predicted(clusters, tree, "each");

	cost_fini(&cost);
	return cost.waves_per_s;
}

/* One host, by hand: woken 10, request 5, 2 tuples read 0.2, answer 5 and its bytes. */
static void by_hand(void)
{
	struct pathmap *map =
		maps_make_of("application one { ranks rank0; collect p2p; collect wait; view v { "
			     "read latest; } }",
			     "cluster A { nodes a0; }", "entry a0; place rank0 on a0;", stderr);
	struct plan *plan;
	struct cost cost;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, NULL), 0);
	cost_predict(&cost, plan, map, &simple, 2);
	CU_ASSERT_EQUAL(cost.n_hosts, 1);
	CU_ASSERT_DOUBLE_EQUAL(cost.hosts[0].records, 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cost.hosts[0].bytes, 120 + 2 * 48 + 130, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cost.hosts[0].cpu_us, 20.2 + 346 * 2e-3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cost.cpu_us, cost.hosts[0].cpu_us, 1e-9);
	/* And the consumer: woken, two frames, the bytes; and both wake up late. */
	CU_ASSERT_DOUBLE_EQUAL(1e6 / cost.waves_per_s, cost.cpu_us + 20 + 2 + 346 * 2e-3, 1e-6);
	/* Two under way: half of that, as long as the host keeps up with 15.9 us each. */
	CU_ASSERT_DOUBLE_EQUAL(cost.window_waves_per_s, 2 * cost.waves_per_s, 1e-6);
	cost_fini(&cost);
	plan_free(plan);
	pathmap_free(map);
}

/* Eight newest tuples of a host become columns. */
static void columns(void)
{
	struct pathmap *map =
		maps_make_of("application one { ranks rank[0-3]; collect p2p; collect wait; "
			     "view v { read latest; } }",
			     "cluster A { nodes a0; }", "entry a0; place rank[0-3] on a0;", stderr);
	struct plan *plan;
	struct cost cost;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, NULL), 0);
	cost_predict(&cost, plan, map, &simple, 1);
	CU_ASSERT_DOUBLE_EQUAL(cost.hosts[0].records, 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cost.hosts[0].bytes, 120 + 8 * 12.2 + 130, 1e-9);
	cost_fini(&cost);
	plan_free(plan);
	pathmap_free(map);
}

static void better_mappings(void)
{
	static const char chain[] =
		"tree by-hand { ga { a0 { a1 { a2 { a3 { a4 { a5 { a6 { a7; } } } } } } } }"
		"b0 { b1 { b2 { b3 { b4 { b5 { b6 { b7; } } } } } } } }";

	CU_ASSERT(rate(cluster, "tree by-cluster;") > rate(cluster, "tree fanout 2;"));
	CU_ASSERT(rate(cluster, "tree fanout 2;") > rate(cluster, chain));
	CU_ASSERT(rate(cluster, chain) > rate(cluster, "tree flat; concurrency sequential;"));
	CU_ASSERT(rate(cluster, "concurrency 4;") > rate(cluster, "concurrency sequential;"));
	CU_ASSERT(rate(cluster, "concurrency all;") > rate(cluster, "concurrency 4;"));
}

static void links(void)
{
	char *slow = memory_format("%s link front B latency 5ms;", cluster);
	char *narrow = memory_format("%s link front B bandwidth 1Mbit;", cluster);
	struct cost cost = predicted(narrow, "", "each");
	double bytes = 0;

	/* There and back. */
	CU_ASSERT(rate(slow, "") < 100 && rate(slow, "") > 90);
	for (size_t i = 0; i < cost.n_hosts; i++) {
		if (cost.hosts[i].bits_per_s > 0)
			bytes = cost.hosts[i].bytes;
	}
	CU_ASSERT(bytes > 1000);
	/* However many are under way, the link is full. */
	CU_ASSERT_DOUBLE_EQUAL(cost.window_waves_per_s, 1e6 / 8 / bytes, 1e-6);
	cost_fini(&cost);
	free(slow);
	free(narrow);
}

/* On one machine all hosts share its two cores. */
static void shared_machine(void)
{
	static const char here[] =
		"cluster A { nodes a[0-7]; address 127.0.0.1:[1-8]; gateway ga; }"
		"cluster B { nodes b[0-7]; address 127.0.0.1:[9-16]; }"
		"node ga { address 127.0.0.1:17; } node front { address 127.0.0.1:18; }";
	struct cost cost = predicted(here, "tree flat;", "each");

	for (size_t i = 0; i < cost.n_hosts; i++)
		CU_ASSERT_EQUAL(cost.hosts[i].machine, 0);
	CU_ASSERT(1e6 / cost.waves_per_s >= cost.cpu_us / 2 - 1e-6);
	CU_ASSERT(cost.window_waves_per_s > cost.waves_per_s);
	cost_fini(&cost);
	CU_ASSERT(rate(cluster, "tree flat;") > rate(here, "tree flat;"));
}

static double root_records(const char *tree, const char *view, size_t host)
{
	struct cost cost = predicted(cluster, tree, view);
	double records = cost.hosts[host].records;

	cost_fini(&cost);
	return records;
}

static void stages(void)
{
	/* 16 threads with 2 elements; host 1 is ga, below it all of A. */
	CU_ASSERT_DOUBLE_EQUAL(root_records("", "each", 0), 32, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("", "each", 1), 16, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("", "each", 2), 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("", "lasts", 0), 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("", "lasts", 1), 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("", "lasts", 2), 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("stages thread at cluster;", "lasts", 2), 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("stages cluster at all;", "lasts", 1), 8, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(root_records("stages thread at all;", "lasts", 1), 16, 1e-9);
}

/* A file of costs in a folder of its own. */
static char *file_make(void)
{
	char path[] = "/tmp/evspace-cost-XXXXXX";

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
	return memory_format("%s/evspace/cost", path);
}

static void file_remove(char *file)
{
	remove(file);
	*strrchr(file, '/') = '\0';
	rmdir(file);
	*strrchr(file, '/') = '\0';
	rmdir(file);
	free(file);
}

/* What a wake-up takes of each of @n hosts on one machine. */
static double woken_us(unsigned n)
{
	char *ranks =
		memory_format("application one { ranks rank[0-%u]; collect p2p; view v { read "
			      "latest; } }",
			      n - 1);
	char *nodes =
		memory_format("cluster A { nodes a[0-%u]; address h.example:[1-%u]; }", n - 1, n);
	char *on = memory_format("entry a0; place rank[0-%u] on a[0-%u]; tree fanout 10;", n - 1,
				 n - 1);
	struct pathmap *map = maps_make_of(ranks, nodes, on, stderr);
	struct plan *plan;
	struct cost cost;
	double us;

	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "v", &plan, NULL), 0);
	cost_predict(&cost, plan, map, &simple, 1);
	CU_ASSERT_EQUAL(cost.n_hosts, n);
	us = cost.hosts[0].wake_us;
	for (size_t i = 0; i < cost.n_hosts; i++) {
		CU_ASSERT_DOUBLE_EQUAL(cost.hosts[i].wake_us, us, 1e-9);
		CU_ASSERT(cost.hosts[i].cpu_us > us * cost.hosts[i].wakes);
	}
	cost_fini(&cost);
	plan_free(plan);
	pathmap_free(map);
	free(ranks);
	free(nodes);
	free(on);
	return us;
}

/* Of a hundred hosts on one machine each finds its caches as it left them, of 2,000 none. */
static void crowd(void)
{
	CU_ASSERT_DOUBLE_EQUAL(woken_us(1), 10, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(woken_us(100), 10, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(woken_us(1050), 30, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(woken_us(2500), 50, 1e-9);
}

/* The same map on hosts of two kinds: who is slower is predicted to be, whatever the others are. */
static void own_costs(void)
{
	struct calibration slow = simple, all;
	char *file = file_make();
	struct pathmap *map;
	struct plan *plan;
	struct cost cost;
	struct error e;

	slow.wake_us = 1000;
	slow.cores = 1;
	snprintf(slow.nodes, sizeof(slow.nodes), "b[0-3] x*");
	CU_ASSERT_EQUAL(calibration_write(&slow, file, &e), 0);
	CU_ASSERT_EQUAL(calibration_read(&all, file, &e), 0);
	CU_ASSERT_FALSE(all.measured);
	calibration_fini(&all);
	CU_ASSERT_EQUAL(calibration_write(&simple, file, &e), 0);
	CU_ASSERT_EQUAL(calibration_write(&slow, file, &e), 0);
	CU_ASSERT_EQUAL(calibration_read(&all, file, &e), 0);
	CU_ASSERT_TRUE(all.measured);
	CU_ASSERT_PTR_NOT_NULL_FATAL(all.next);
	CU_ASSERT_PTR_NULL(all.next->next);
	CU_ASSERT_PTR_EQUAL(calibration_of(&all, "b3"), all.next);
	CU_ASSERT_PTR_EQUAL(calibration_of(&all, "x17"), all.next);
	CU_ASSERT_PTR_EQUAL(calibration_of(&all, "b4"), &all);
	CU_ASSERT_PTR_EQUAL(calibration_of(&all, "ab3"), &all);
	map = maps_make_of(application, cluster, places, stderr);
	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	CU_ASSERT_EQUAL_FATAL(plan_make(map, "each", &plan, NULL), 0);
	cost_predict(&cost, plan, map, &all, 16);
	CU_ASSERT_TRUE(cost.measured);
	for (size_t i = 0; i < cost.n_hosts; i++) {
		const char *node = cost.hosts[i].place->node;

		CU_ASSERT_EQUAL(cost.hosts[i].cpu_us > 1000,
				node[0] == 'b' && node[1] >= '0' && node[1] <= '3');
	}
	cost_fini(&cost);
	plan_free(plan);
	pathmap_free(map);
	calibration_fini(&all);
	snprintf(slow.nodes, sizeof(slow.nodes), "a/b");
	CU_ASSERT_EQUAL(calibration_write(&slow, file, &e), -1);
	CU_ASSERT_EQUAL(calibration_nodes_check("  ", &e), -1);
	CU_ASSERT_EQUAL(calibration_nodes_check("w[0-", &e), -1);
	file_remove(file);
}

static void file_of_costs(void)
{
	char *file = file_make();
	struct calibration c;
	struct error e;
	FILE *out;

	CU_ASSERT_EQUAL(calibration_read(&c, file, &e), 0);
	CU_ASSERT_FALSE(c.measured);
	CU_ASSERT_EQUAL(calibration_write(&simple, file, &e), 0);
	CU_ASSERT_EQUAL(calibration_read(&c, file, &e), 0);
	CU_ASSERT_TRUE(c.measured);
	CU_ASSERT_DOUBLE_EQUAL(c.wake_us, 10, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(c.stage_ns, 100, 1e-9);
	CU_ASSERT_EQUAL(c.cores, 2);
	for (const char *const *wrong =
		     (const char *const[]){"wake_us -1\n", "wake 1\n", "cores 0\n", "read_ns nan\n",
					   "copy_ns 1 2\n", "nodes a/b\n", "nodes \n", NULL};
	     *wrong != NULL; wrong++) {
		out = fopen(file, "w");
		CU_ASSERT_PTR_NOT_NULL_FATAL(out);
		fprintf(out, "# fine\ncores 4\n%s", *wrong);
		fclose(out);
		CU_ASSERT_EQUAL(calibration_read(&c, file, &e), -1);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "cost:3: not a line"));
		CU_ASSERT_FALSE(c.measured);
	}
	file_remove(file);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"one host, computed by hand", by_hand},
		{"newest tuples become columns", columns},
		{"better mappings are predicted to be faster", better_mappings},
		{"links: latency there and back, bandwidth", links},
		{"hosts of one machine share its cores", shared_machine},
		{"of many hosts on one machine, each finds its caches cold", crowd},
		{"what stages leave", stages},
		{"the file of costs", file_of_costs},
		{"nodes with costs of their own", own_costs},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "cost", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
