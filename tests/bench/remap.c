/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits a pathmap at random while a program runs and a consumer looks on: what is lost, what comes
 * twice, and for how long the consumer sees nothing. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/bed.h"
#include "tests/bench/bench.h"
#include "tests/bench/follower.h"

#define RUN	  "wind"
#define RATE_HZ	  200
#define CONTROL	  "steer"
#define NODES	  4 /* of each cluster, with a rank each */
#define CAPACITY  "60000"
#define PROGRAM_S 20

static const char about[] =
	"usage: remap [options]\n"
	"\n"
	"A wind tunnel of 8 ranks on two clusters of four agents, TLS on, and a consumer that "
	"takes every\n"
	"tuple, 200 waves a second. Edits of the pathmap at random are applied one after the "
	"other: shapes,\n"
	"fan-outs, hosts that join a cluster, stages, how many children are asked at once, hosts "
	"that come\n"
	"and go. --rounds says how many. What was delivered is compared, number by number, with "
	"the segments\n"
	"in the end. Agents, program and consumer share this machine's cores: the longest gap "
	"between two\n"
	"waves while nothing is edited is measured in the same run.\n";

static struct bed bed;
static struct testimony *seen;
static pid_t tunnel = -1, follower = -1;
static char tunnel_log[160], apply_log[160];
static unsigned random_state = 20261121;

/* ---- maps ---- */

/* The same edits in every run. */
static unsigned chance(unsigned n)
{
	random_state = random_state * 1103515245u + 12345u;
	return (random_state >> 16) % n;
}

static int application_write(unsigned stages, struct error *e)
{
	static const char *const stage[] = {"", "all sort;", "node sort; all sort;",
					    "cluster sort;"};

	return bed_map(&bed, "application.map", e,
		       "application wind {\n\tranks rank[0-%d];\n\tview events {\n\t\tselect "
		       "/**;\n\t\tread stream;\n\t\t%s\n\t}\n}\n",
		       2 * NODES - 1, stage[stages]);
}

/* The spare host of a cluster is in the map, or is not. */
static int cluster_write(bool spare, struct error *e)
{
	return bed_map(&bed, "cluster.map", e,
		       "cluster A {\n\tnodes a[0-3];\n\taddress %s.[2-5]:%d;\n\tgateway ga;\n}\n"
		       "cluster B {\n\tnodes b[0-%d];\n\taddress %s.[6-%d]:%d;\n}\n"
		       "node ga { address %s.11:%d; }\nnode front { address %s.1:%d; }\n",
		       bed.net, BED_PORT, spare ? 4 : 3, bed.net, spare ? 10 : 9, BED_PORT, bed.net,
		       BED_PORT, bed.net, BED_PORT);
}

static void tree_choose(bool spare, char *text, size_t n)
{
	switch (chance(5)) {
	case 0:
		snprintf(text, n, "tree flat;");
		break;
	case 1:
		snprintf(text, n, "tree fanout %u;", 2 + chance(3));
		break;
	case 2:
		snprintf(text, n, "tree by-cluster; cluster on b%u;", chance(spare ? 5 : 4));
		break;
	case 3:
		snprintf(text, n, "tree by-hand { ga { a[0-3]; %s } %s }",
			 chance(2) ? "b0 { b1; }" : "b0; b1;", "b2 { b3; }");
		break;
	default:
		snprintf(text, n, "tree by-hand { ga { a0 { a1; } %s } b[0-3]; }",
			 chance(2) ? "a2 { a3; }" : "a2; a3;");
		break;
	}
}

static int mapping_write(const char *tree, struct error *e)
{
	static const char *const more[] = {"", "concurrency 1;", "concurrency 2;",
					   "stages node at cluster;"};

	return bed_map(
		&bed, "mapping.map", e,
		"entry front;\nplace rank[0-3] on a[0-3];\nplace rank[4-7] on b[0-3];\n%s\n%s\n",
		tree, more[chance(4)]);
}

static int maps_edit(struct error *e)
{
	bool spare = chance(2);
	char tree[128];

	tree_choose(spare, tree, sizeof(tree));
	if (application_write(chance(4), e) < 0 || cluster_write(spare, e) < 0)
		return -1;
	return mapping_write(tree, e);
}

static int apply(struct error *e)
{
	char program[4096], maps[sizeof(bed.maps)], tls[sizeof(bed.tls)], address[64];
	char map[] = "map", action[] = "apply", o1[] = "--connect", o2[] = "--tls",
	     o3[] = "--identity", who[] = CONTROL;
	char *argv[] = {program, map, action, maps, o1, address, o2, tls, o3, who, NULL};

	bench_built("evspace", program, sizeof(program));
	memcpy(maps, bed.maps, sizeof(maps));
	memcpy(tls, bed.tls, sizeof(tls));
	snprintf(address, sizeof(address), "%s.1:%d", bed.net, BED_PORT);
	return bench_run(argv, apply_log, e);
}

/* ---- the bed ---- */

static int control_make(struct error *e)
{
	char program[4096], tls[sizeof(bed.tls)], what[] = "control", who[] = CONTROL;
	char *argv[] = {program, what, tls, who, NULL};

	bench_source("deploy/certs", program, sizeof(program));
	memcpy(tls, bed.tls, sizeof(tls));
	return bench_run(argv, apply_log, e);
}

static int tunnel_start(struct error *e)
{
	char program[4096], app[4096];
	char run[] = "run", o1[] = "--run", name[] = RUN, o2[] = "--capacity", n[] = CAPACITY,
	     o3[] = "--threads", one[] = "1", end[] = "--", mpirun[] = "mpirun",
	     over[] = "--oversubscribe", np[] = "-np", ranks[] = "8", o4[] = "--seconds",
	     seconds[] = "100000";
	char *argv[] = {program, run,  o1, name,  o2,  n,  o3,	    one, end,
			mpirun,	 over, np, ranks, app, o4, seconds, NULL};

	bench_built("evspace", program, sizeof(program));
	bench_built("tests/apps/windtunnel", app, sizeof(app));
	tunnel = bench_start(argv, tunnel_log, e);
	return tunnel < 0 ? -1 : 0;
}

static bool is_followed(void *arg)
{
	(void)arg;
	return atomic_load(&seen->delivered) > 10000 || seen->why[0];
}

static bool has_ended(void *arg)
{
	(void)arg;
	return atomic_load(&seen->ended);
}

static bool has_segments(void *arg)
{
	char path[256];

	(void)arg;
	snprintf(path, sizeof(path), "%s/%s", bed.space, RUN);
	return access(path, R_OK) == 0;
}

static int set_up(struct error *e)
{
	static char connect[64], folder[256];
	static struct follower_options o = {
		.identity = BED_CONSUMER, .run = RUN, .rate_hz = RATE_HZ};

	if (bed_begin(&bed, e) < 0)
		return -1;
	snprintf(tunnel_log, sizeof(tunnel_log), "%s/tunnel.log", bed.dir);
	snprintf(apply_log, sizeof(apply_log), "%s/apply.log", bed.dir);
	snprintf(connect, sizeof(connect), "%s.1:%d", bed.net, BED_PORT);
	snprintf(folder, sizeof(folder), "%s/%s", bed.space, RUN);
	o.connect = connect;
	o.tls = bed.tls;
	o.folder = folder;
	if (control_make(e) < 0 || application_write(0, e) < 0 || cluster_write(true, e) < 0 ||
	    mapping_write("tree by-cluster;", e) < 0 || bed_start(&bed, e) < 0 ||
	    tunnel_start(e) < 0 ||
	    bench_until(has_segments, NULL, PROGRAM_S, "the program has begun", e) < 0)
		return bench_quote(tunnel_log, e);
	follower = follower_start(&o, &seen, e);
	if (follower < 0)
		return -1;
	return bench_until(is_followed, NULL, PROGRAM_S, "the consumer follows", e);
}

/* ---- measuring ---- */

struct outcome {
	unsigned edits;
	double quiet_gap_ms, seconds;
};

static int measure(const struct bench_options *o, struct outcome *out, struct error *e)
{
	double began;

	atomic_store(&seen->gap_us, 0);
	if (bench_wait(o->seconds * o->rounds / 2, e) < 0)
		return -1;
	out->quiet_gap_ms = (double)atomic_exchange(&seen->gap_us, 0) / 1000;
	began = bench_seconds();
	for (unsigned i = 0; i < o->rounds; i++) {
		if (maps_edit(e) < 0 || apply(e) < 0)
			return error_prefix(e, "edit %u", i + 1);
		out->edits++;
		if (bench_wait(o->seconds, e) < 0)
			return -1;
	}
	out->seconds = bench_seconds() - began;
	return 0;
}

/* The program ends, and the consumer takes what is left; its gaps count no more. */
static int come_to_the_end(uint64_t *gap_us, struct error *e)
{
	*gap_us = atomic_load(&seen->gap_us);
	bench_end(tunnel, SIGTERM);
	tunnel = -1;
	if (bench_until(has_ended, NULL, 60, "the consumer is through", e) < 0)
		return -1;
	return seen->why[0] ? errorf(e, "the consumer: %s", seen->why) : 0;
}

static void outcome_print(const struct bench_options *o, const struct outcome *out, uint64_t gap_us)
{
	unsigned long long told = atomic_load(&seen->told_lost);
	unsigned long long lost = atomic_load(&seen->lost) - told;
	unsigned long long twice = atomic_load(&seen->duplicated);
	unsigned long long delivered = atomic_load(&seen->delivered);
	unsigned long long remaps = atomic_load(&seen->remaps), waves = atomic_load(&seen->waves);
	double gap_ms = (double)gap_us / 1000;
	double switch_ms = (double)atomic_load(&seen->switch_gap_us) / 1000;

	if (o->json)
		printf("{\"bench\":\"remap\",\"edits\":%u,\"lost\":%llu,\"duplicated\":%llu,"
		       "\"gap_ms_max\":%.1f,\"gap_ms_max_quiet\":%.1f,\"gap_ms_max_switch\":%.1f,"
		       "\"overwritten\":%llu,\"delivered\":%llu,\"remaps\":%llu,"
		       "\"waves\":%llu,\"seconds\":%.1f}\n",
		       out->edits, lost, twice, gap_ms, out->quiet_gap_ms, switch_ms, told,
		       delivered, remaps, waves, out->seconds);
	else
		printf("%u edits in %.1f s: %llu tuples lost, %llu twice, of %llu delivered (%llu "
		       "more were\noverwritten before they were read, and counted)\n"
		       "longest gap between two waves: %.1f ms; at a switch %.1f ms; while nothing "
		       "is edited %.1f ms\n%llu switches were seen in %llu waves\n",
		       out->edits, out->seconds, lost, twice, delivered, told, gap_ms, switch_ms,
		       out->quiet_gap_ms, remaps, waves);
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 0.1, .rounds = 10};
	struct bench_options o = {.seconds = 0.2, .rounds = 100};
	struct outcome out = {0};
	struct error e = {""};
	uint64_t gap_us = 0;
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	bench_mpi();
	result = set_up(&e);
	if (result == 0)
		result = measure(&o, &out, &e);
	if (result == 0)
		result = come_to_the_end(&gap_us, &e);
	if (result == 0)
		outcome_print(&o, &out, gap_us);
	else
		fprintf(stderr, "remap: %s\n", e.text);
	if (follower > 0)
		bench_end(follower, SIGTERM);
	if (tunnel > 0)
		bench_end(tunnel, SIGTERM);
	follower_free(seen);
	bed_end(&bed);
	return result < 0 ? 1 : 0;
}
