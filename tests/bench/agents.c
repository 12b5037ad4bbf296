/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many agents on this machine as one gather tree: how long it takes until they answer, what they
 * take at rest, and how waves get slower with their number.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "consumers/client/evspace-client.h"
#include "consumers/map/map.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bed.h"
#include "tests/bench/bench.h"
#include "tests/bench/census.h"
#include "tests/bench/reduced.h"
#include "tests/bench/space.h"

#define FANOUT	    10
#define RUN	    "bench"
#define ELEMENTS    6 /* of each agent; one of them is looked at */
#define CAPACITY    200
#define DEADLINE_MS 10000
#define ANSWER_S    60

static const char about[] =
	"usage: agents [options]\n"
	"\n"
	"10, 64, 100 and 1,000 agents on this machine as one tree, by TLS, at most 10 children of\n"
	"a host. Each has elements of its own, in a folder of its own, and is a leaf; some join\n"
	"others, too. Maps, certificates and elements are made before (set-up, not counted).\n"
	"\n"
	"  built    from starting the first agent until a consumer's first answer of them all\n"
	"  started  until all of them listen; a part of that\n"
	"  first    from the consumer's connecting until its first answer: the tree connects\n"
	"  again    the same for another consumer: the tree is connected\n"
	"  CPU s    time that all agents have spent on processors until the first answer\n"
	"  PSS      proportional set size of the largest agent at rest, after the waves\n"
	"  private  what is its own of that; median: of the agent in the middle, a leaf\n"
	"  entry    private memory of the entry agent, which alone knows all hosts and their "
	"names\n"
	"  rest     CPU time that all agents take at rest, per second\n"
	"  waves/s  of one wave at a time, in which each agent has an event\n"
	"  CPU us   of an agent for a wave; bytes: of a wave on the way to the consumer\n"
	"  said     what is predicted of these three, by what doctor measures, right before;\n"
	"           as ratios to what was measured then\n"
	"\n"
	"Case reduced: each host passes on the newest tuple of all below it, 8 children, 64 waves "
	"under\n"
	"way: what a wave costs the root, beside that of a bare tree, and the bytes from there to "
	"the\n"
	"consumer and back. Case waves: all else.\n"
	"\n"
	"Growth: agents on one machine share its processors. A wave wakes every agent once for "
	"the\n"
	"request and each host above others once for all that it gets at a time, so that CPU time "
	"per\n"
	"agent and wave (the last column) stays and waves per second fall as the number grows. "
	"The\n"
	"first answer takes a TLS handshake per agent (two signatures, two checks, a key agreement "
	"on\n"
	"each side), which is all processor time, too; another consumer finds the tree connected. "
	"On\n"
	"machines of their own, agents of a level work at the same time: then depth counts, which\n"
	"grows with the logarithm of their number.\n";

struct result {
	size_t agents;
	double setup_s, built_s, started_s, first_s, again_s;
	double waves_per_s, cpu_us; /* per agent and wave */
	double bytes;		    /* of a wave, received by the consumer */
	struct {
		double waves_per_s, cpu_us, bytes;
	} said;		/* predicted */
	double rest_us; /* per second */
	double started_cpu_s, built_cpu_s;
	struct census_size size, entry; /* the largest of all others; the entry agent */
	struct reduced reduced;
};

struct planting {
	struct bed bed;
	struct space *spaces; /* one of each agent */
	size_t n_spaces;
	unsigned *elements; /* of each rank: one has some at a time */
	char list[32];
	char space[192];
	char entry[64];
};

/* ---- set-up ---- */

static int maps_write(struct planting *p, size_t n, struct error *e)
{
	/* No other bench has nets from 251 on. */
	int port = 8000 + (int)(getpid() % 20000);
	char address[64];

	if (n <= 250)
		snprintf(address, sizeof(address), "127.251.0.[1-%zu]:%d", n, port);
	else
		snprintf(address, sizeof(address), "127.251.[0-%zu].[1-250]:%d", n / 250 - 1, port);
	snprintf(p->entry, sizeof(p->entry), "127.251.0.1:%d", port);
	if (bed_map(&p->bed, "application.map", e,
		    "application bench { ranks rank[0-%zu]; capacity %d;\n"
		    "view look { select /**/p2p; read latest; }\n" REDUCED_VIEW "}\n",
		    n - 1, CAPACITY) < 0 ||
	    bed_map(&p->bed, "cluster.map", e, "cluster c { nodes %s; address %s; }\n", p->list,
		    address) < 0)
		return -1;
	return bed_map(&p->bed, "mapping.map", e,
		       "entry n0;\nplace rank[0-%zu] on %s;\ntree fanout %d;\n"
		       "view reduced { tree fanout 8; }\n",
		       n - 1, p->list, FANOUT);
}

/* A folder for each node, with the elements of its rank, as hosts have. */
static int spaces_make(struct planting *p, size_t n, struct error *e)
{
	char dir[224];

	p->spaces = memory_new(n, sizeof(*p->spaces));
	p->elements = memory_new(n, sizeof(*p->elements));
	for (size_t i = 0; i < n; i++) {
		int rc;

		snprintf(dir, sizeof(dir), "%s/n%zu", p->bed.space, i);
		if (mkdir(dir, 0700) < 0)
			return errorf(e, "cannot make %s: %s", dir, strerror(errno));
		p->elements[i] = ELEMENTS;
		rc = space_make(&p->spaces[i], dir, RUN, (unsigned)i + 1, p->elements, CAPACITY, e);
		p->n_spaces++;
		p->elements[i] = 0;
		if (rc < 0)
			return -1;
	}
	return 0;
}

static int planting_begin(struct planting *p, size_t n, struct error *e)
{
	if (bed_begin(&p->bed, e) < 0)
		return -1;
	snprintf(p->list, sizeof(p->list), "n[0-%zu]", n - 1);
	snprintf(p->space, sizeof(p->space), "%s/%%n", p->bed.space);
	if (maps_write(p, n, e) < 0 || spaces_make(p, n, e) < 0)
		return -1;
	return bed_prepare(&p->bed, e);
}

static void planting_end(struct planting *p)
{
	bed_end(&p->bed);
	for (size_t i = 0; i < p->n_spaces; i++)
		space_fini(&p->spaces[i]);
	free(p->spaces);
	free(p->elements);
}

/* What is predicted for them, by what things cost now. */
static int predict(const struct planting *p, struct result *r, struct error *e)
{
	struct calibration c;
	struct plan *plan;
	char program[4096];
	struct cost cost;

	bench_built("evspace", program, sizeof(program));
	if (calibrate_all(&c, program, e) < 0)
		return -1;
	if (plan_make(p->bed.map, "look", &plan, e) < 0)
		return -1;
	cost_predict(&cost, plan, p->bed.map, &c, 1);
	r->said.waves_per_s = cost.waves_per_s;
	r->said.cpu_us = cost.cpu_us / (double)r->agents;
	r->said.bytes = cost.hosts[0].bytes;
	cost_fini(&cost);
	plan_free(plan);
	return 0;
}

/* ---- looking ---- */

static struct evspace_client *look(const struct planting *p, struct error *e)
{
	const struct evspace_options options = {
		.connect = p->entry,
		.tls = p->bed.tls,
		.identity = BED_CONSUMER,
		.run = RUN,
		.view = "look",
		.deadline_ms = DEADLINE_MS,
	};
	enum evspace_failure failure;

	return evspace_open(&options, &failure, e->text, sizeof(e->text));
}

/* Wait for the next wave that all @n hosts have answered. */
static int answer(struct evspace_client *client, size_t n, struct error *e)
{
	double until = bench_seconds() + ANSWER_S;
	unsigned answered = 0;

	while (bench_seconds() < until) {
		int rc = evspace_next(client, ANSWER_S * 1000);

		if (rc < 0)
			return errorf(e, "%s", evspace_why(client));
		if (rc == 0)
			break;
		answered = evspace_wave(client)->answered;
		if (answered == n && evspace_wave(client)->n_missing == 0)
			return 0;
		if (bench_wait(0, e) < 0)
			return -1;
	}
	errno = ETIMEDOUT;
	return errorf(e, "only %u of %zu agents answer", answered, n);
}

/* Seconds from connecting to the first answer of all agents. */
static struct evspace_client *first_answer(const struct planting *p, size_t n, double *seconds,
					   struct error *e)
{
	double begin = bench_seconds();
	struct evspace_client *client = look(p, e);

	if (client && answer(client, n, e) < 0) {
		evspace_close(client);
		return NULL;
	}
	*seconds = bench_seconds() - begin;
	return client;
}

static int waves_measure(struct evspace_client *client, const struct census *census, double seconds,
			 struct result *r, struct error *e)
{
	double begin = bench_seconds(), cpu = census_cpu(census), took;
	struct evspace_counts before, after;
	unsigned waves = 0;

	evspace_counts(client, &before);
	do {
		if (answer(client, census->n, e) < 0)
			return -1;
		waves++;
		took = bench_seconds() - begin;
	} while (took < seconds);
	evspace_counts(client, &after);
	r->bytes = (double)(after.received_bytes - before.received_bytes) / waves;
	r->waves_per_s = waves / took;
	r->cpu_us = (census_cpu(census) - cpu) * 1e6 / (double)census->n / waves;
	return 0;
}

static int rest_measure(const struct census *census, double seconds, struct result *r,
			struct error *e)
{
	struct census entry, others;
	double cpu;

	/* Links that are not needed are given up after a while. */
	if (bench_wait(1, e) < 0)
		return -1;
	cpu = census_cpu(census);
	if (bench_wait(seconds, e) < 0)
		return -1;
	r->rest_us = (census_cpu(census) - cpu) * 1e6 / seconds;
	/* They were forked in order; the entry is the first node. */
	entry = (struct census){census->pids, 1};
	others = (struct census){census->pids + 1, census->n - 1};
	if (census_sizes(&entry, &r->entry, e) < 0)
		return -1;
	return census_sizes(&others, &r->size, e);
}

static bool is_wanted(const struct bench_options *o, const char *name)
{
	return !o->only || strcmp(o->only, name) == 0;
}

static int planting_measure(struct planting *p, const struct bench_options *o, struct result *r,
			    struct error *e)
{
	struct evspace_client *first = NULL, *second = NULL;
	struct census census = {0};
	double begin = bench_seconds();
	int rc = -1;

	if (bed_start_together(&p->bed, p->list, p->space, e) < 0)
		return -1;
	r->started_s = bench_seconds() - begin;
	if (census_take(&census, p->bed.prefork, e) < 0)
		return -1;
	r->started_cpu_s = census_cpu(&census);
	first = first_answer(p, r->agents, &r->first_s, e);
	r->built_s = bench_seconds() - begin;
	r->built_cpu_s = census_cpu(&census);
	if (first)
		second = first_answer(p, r->agents, &r->again_s, e);
	evspace_close(second);
	if (second)
		rc = is_wanted(o, "waves") ? waves_measure(first, &census, o->seconds, r, e) : 0;
	evspace_close(first);
	if (rc == 0 && is_wanted(o, "waves"))
		rc = rest_measure(&census, o->seconds, r, e);
	if (rc == 0 && is_wanted(o, "reduced"))
		rc = reduced_measure(&p->bed, RUN, &census, o->seconds, &r->reduced, e);
	census_fini(&census);
	return rc;
}

static int measure(size_t n, const struct bench_options *o, struct result *r, struct error *e)
{
	struct planting p = {.n_spaces = 0};
	double begin = bench_seconds();
	int rc;

	*r = (struct result){.agents = n};
	rc = planting_begin(&p, n, e);
	r->setup_s = bench_seconds() - begin;
	if (rc == 0 && is_wanted(o, "waves"))
		rc = predict(&p, r, e);
	if (rc == 0)
		rc = planting_measure(&p, o, r, e);
	planting_end(&p);
	return rc == 0 ? 0 : error_prefix(e, "%zu agents", n);
}

/* ---- what came out ---- */

static void result_print(const struct result *r, bool json)
{
	static const char line[] =
		"{\"bench\":\"agents\",\"agents\":%zu,\"built_s\":%.3f,\"first_answer_ms\":%.1f,"
		"\"pss_mb\":%.3f,\"private_mb\":%.3f,\"private_median_mb\":%.3f,"
		"\"waves_per_s\":%.1f,"
		"\"entry_pss_mb\":%.3f,\"entry_private_mb\":%.3f,\"threads\":%u,"
		"\"started_s\":%.3f,\"started_cpu_s\":%.3f,\"built_cpu_s\":%.3f,"
		"\"again_ms\":%.1f,\"rest_cpu_us_per_s\":%.1f,"
		"\"cpu_us_per_agent_and_wave\":%.1f,\"bytes_per_wave\":%.0f,"
		"\"predicted_waves_per_s\":%.1f,\"predicted_cpu_us\":%.1f,"
		"\"predicted_bytes\":%.0f,\"setup_s\":%.2f}\n";

	if (json)
		printf(line, r->agents, r->built_s, r->first_s * 1e3, r->size.pss_mb,
		       r->size.private_mb, r->size.median_mb, r->waves_per_s, r->entry.pss_mb,
		       r->entry.private_mb, r->size.threads, r->started_s, r->started_cpu_s,
		       r->built_cpu_s, r->again_s * 1e3, r->rest_us, r->cpu_us, r->bytes,
		       r->said.waves_per_s, r->said.cpu_us, r->said.bytes, r->setup_s);
	else
		printf("%6zu %8.3f %9.3f %8.3f %8.1f %8.1f %8.3f %10.3f %9.3f %8.3f %7u %8.1f "
		       "%8.1f "
		       "%9.1f %9.0f %6.2f %6.2f %6.2f\n",
		       r->agents, r->built_s, r->started_s, r->built_cpu_s, r->first_s * 1e3,
		       r->again_s * 1e3, r->size.pss_mb, r->size.private_mb, r->size.median_mb,
		       r->entry.private_mb, r->size.threads, r->rest_us, r->waves_per_s, r->cpu_us,
		       r->bytes, r->said.waves_per_s / r->waves_per_s, r->said.cpu_us / r->cpu_us,
		       r->said.bytes / r->bytes);
	fflush(stdout);
}

static void reduced_print(const struct result *r, bool json)
{
	const struct spent *real = &r->reduced.real, *floor = &r->reduced.floor;

	printf(json ? "{\"bench\":\"agents\",\"case\":\"reduced\",\"agents\":%zu,\"window\":%u,"
		      "\"waves_per_s\":%.1f,\"root_cpu_us_per_wave\":%.1f,"
		      "\"floor_root_cpu_us_per_wave\":%.1f,\"ratio\":%.2f,"
		      "\"consumer_cpu_us_per_wave\":%.1f,"
		      "\"floor_consumer_cpu_us_per_wave\":%.1f,\"consumer_bytes_per_wave\":%.0f,"
		      "\"floor_consumer_bytes_per_wave\":%.0f,\"cpu_us_per_wave\":%.0f,"
		      "\"floor_cpu_us_per_wave\":%.0f,\"floor_waves_per_s\":%.1f}\n"
		    : "%6zu reduced, %u under way: %.1f waves/s; us a wave: root %.1f, bare %.1f "
		      "(%.2f); consumer %.1f, bare %.1f; bytes to it %.0f, bare %.0f; us of all "
		      "%.0f, bare %.0f; bare %.1f waves/s\n",
	       r->agents, REDUCED_WINDOW, real->waves_per_s, real->root_us, floor->root_us,
	       real->root_us / floor->root_us, real->consumer_us, floor->consumer_us, real->bytes,
	       floor->bytes, real->cpu_us, floor->cpu_us, floor->waves_per_s);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 0.5, .rounds = 1};
	static const size_t sizes[] = {10, 64, 100, 1000};
	struct bench_options o = {.seconds = 2, .rounds = 1};
	struct error e = {""};
	struct result r;
	struct rlimit limit;
	int result = 0;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max; /* a descriptor for each element's segment */
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (!o.json && is_wanted(&o, "waves"))
		printf("%6s %8s %9s %8s %8s %8s %8s %10s %9s %8s %7s %8s %8s %9s %9s %6s %6s %6s\n",
		       "agents", "built s", "started s", "CPU s", "first ms", "again ms", "PSS MB",
		       "private MB", "median MB", "entry MB", "threads", "rest us", "waves/s",
		       "CPU us", "bytes", "said/s", "said", "said");
	for (unsigned round = 0; round < o.rounds; round++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && result == 0; i++) {
			result = measure(sizes[i], &o, &r, &e);
			if (result == 0 && is_wanted(&o, "waves"))
				result_print(&r, o.json);
			if (result == 0 && is_wanted(&o, "reduced"))
				reduced_print(&r, o.json);
		}
	}
	if (result < 0)
		fprintf(stderr, "agents: %s\n", e.text);
	return result < 0 ? 1 : 0;
}
