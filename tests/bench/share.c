/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What consumers cost who look at the same time: many of one view, and several of different views.
 * Counted is the CPU time of all hosts but the entry, in the same seconds and beside that of one
 * consumer alone.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tests/bench/bed.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/meter.h"
#include "tests/bench/puller.h"
#include "tests/bench/space.h"

#define HOSTS	 8u
#define ELEMENTS 60u
#define RUN	 "run"
#define RATE	 50.0
#define MOST	 32u
#define WRITTEN	 50.0 /* a second to each element, as streams read them */
#define WARM	 20u
#define WARM_S	 20
#define LIMIT	 1.2

static const char about[] =
	"usage: share [options]\n"
	"\n"
	"A two-level tree of 8 hosts behind two inner ones, TLS on, 60 elements each; consumers\n"
	"pull 50 waves a second, each when it likes. The figures are CPU time a second of all\n"
	"hosts but the entry, and of the entry; 50 events a second come to each element; and how "
	"many waves a second a consumer gets, on\n"
	"average and at least.\n"
	"\n"
	"  one view  1, 2, 8 and 32 consumers of it; ratio: to one, 1.2 at most\n"
	"  stream    the same of a view that reads all events: each has a tree of its own, which\n"
	"            are asked at the same moments\n"
	"  fast      1 and 8 consumers of it, as fast as they can; ratio: to one, 1.2 at most\n"
	"  monitors  four different views, each alone, and all at once; ratio: to the dearest\n";

/* Consumers that look at the same time. */
struct cell {
	const char *name;
	const char *const *views; /* one of each, in turn */
	unsigned n_views, n;
	double rate;
	double *hosts_us, *entry_us; /* a second, of each round */
	double *least, *waves;	     /* waves a second of the slowest, and on average */
};

static const char *const same[] = {"newest"}, *const streams[] = {"all"};
static const char *const monitors[] = {"newest", "heartbeat", "last", "messages"};
#define MONITORS 4u

static struct cell cells[] = {
	{.name = "one view", .views = same, .n_views = 1, .n = 1, .rate = RATE},
	{.name = "one view", .views = same, .n_views = 1, .n = 2, .rate = RATE},
	{.name = "one view", .views = same, .n_views = 1, .n = 8, .rate = RATE},
	{.name = "one view", .views = same, .n_views = 1, .n = 32, .rate = RATE},
	{.name = "stream", .views = streams, .n_views = 1, .n = 1, .rate = RATE},
	{.name = "stream", .views = streams, .n_views = 1, .n = 2, .rate = RATE},
	{.name = "stream", .views = streams, .n_views = 1, .n = 8, .rate = RATE},
	{.name = "stream", .views = streams, .n_views = 1, .n = 32, .rate = RATE},
	{.name = "fast", .views = same, .n_views = 1, .n = 1},
	{.name = "fast", .views = same, .n_views = 1, .n = 8},
	{.name = "monitors", .views = &monitors[0], .n_views = 1, .n = 1, .rate = RATE},
	{.name = "monitors", .views = &monitors[1], .n_views = 1, .n = 1, .rate = RATE},
	{.name = "monitors", .views = &monitors[2], .n_views = 1, .n = 1, .rate = RATE},
	{.name = "monitors", .views = &monitors[3], .n_views = 1, .n = 1, .rate = RATE},
	{.name = "monitors", .views = monitors, .n_views = MONITORS, .n = MONITORS, .rate = RATE},
};
#define CELLS (sizeof(cells) / sizeof(cells[0]))

static struct bed bed;
static struct space space;
static pid_t writer;

/* ---- the bed ---- */

static int set_up(struct error *e)
{
	unsigned elements[HOSTS];

	for (unsigned i = 0; i < HOSTS; i++)
		elements[i] = ELEMENTS;
	if (bed_begin(&bed, e) < 0 ||
	    bed_map(&bed, "application.map", e,
		    "application bench { ranks rank[0-%u];\nview newest { " BED_NEWEST " }\n"
		    "view last { " BED_NEWEST
		    " node reduce last; cluster reduce last; all reduce last; }\n"
		    "view all { select /**; read stream; }\n"
		    "view messages { select /**/p2p /**/completion; read latest; }\n}\n",
		    HOSTS - 1) < 0 ||
	    bed_clusters(&bed, HOSTS / 2, e) < 0)
		return -1;
	if (space_make(&space, bed.space, RUN, HOSTS, elements, 200, e) < 0)
		return -1;
	writer = space_write(&space, WRITTEN, e);
	return writer < 0 ? -1 : bed_start(&bed, e);
}

/* ---- measuring ---- */

/* Who looks in a cell. */
struct crowd {
	pid_t pullers[MOST];
	struct tally *tallies[MOST];
	unsigned n;
};

static void crowd_end(struct crowd *crowd)
{
	for (unsigned i = 0; i < crowd->n; i++) {
		if (crowd->pullers[i] > 0)
			bench_end(crowd->pullers[i], SIGKILL);
		tally_free(crowd->tallies[i]);
	}
	crowd->n = 0;
}

static int crowd_start(struct crowd *crowd, const struct cell *cell, struct error *e)
{
	for (; crowd->n < cell->n; crowd->n++) {
		struct puller_options o =
			bed_puller(&bed, cell->views[crowd->n % cell->n_views], RUN);
		unsigned i = crowd->n;

		o.window = cell->rate > 0 ? 2 : 16;
		o.rate = cell->rate;
		o.hosts = HOSTS;
		crowd->tallies[i] = tally_new();
		crowd->pullers[i] = puller_start(&o, crowd->tallies[i], e);
		if (crowd->pullers[i] < 0) {
			tally_free(crowd->tallies[i]);
			return -1;
		}
	}
	return 0;
}

static const char *crowd_failed(const struct crowd *crowd)
{
	for (unsigned i = 0; i < crowd->n; i++) {
		if (tally_failed(crowd->tallies[i]))
			return crowd->tallies[i]->why;
	}
	return NULL;
}

static bool crowd_is_warm(void *arg)
{
	const struct crowd *crowd = arg;

	for (unsigned i = 0; i < crowd->n; i++) {
		if (atomic_load(&crowd->tallies[i]->waves) < WARM)
			return crowd_failed(crowd) != NULL;
	}
	return true;
}

/* What has been used, and what has come, so far. */
struct count {
	double seconds, hosts, entry;
	uint64_t waves[MOST];
};

static int count_take(const struct crowd *crowd, struct count *c, struct error *e)
{
	*c = (struct count){.seconds = bench_seconds()};
	for (size_t i = 0; i < bed.n_agents; i++) {
		bool is_entry = strcmp(bed.agents[i].node, "front") == 0;

		if (meter_cpu(bed.agents[i].pid, is_entry ? &c->entry : &c->hosts, e) < 0)
			return -1;
	}
	for (unsigned i = 0; i < crowd->n; i++)
		c->waves[i] = atomic_load(&crowd->tallies[i]->waves);
	return 0;
}

static void cell_note(struct cell *cell, unsigned round, const struct count *a,
		      const struct count *b)
{
	double seconds = b->seconds - a->seconds, all = 0, least = 0;

	for (unsigned i = 0; i < cell->n; i++) {
		double waves = (double)(b->waves[i] - a->waves[i]) / seconds;

		all += waves;
		least = i == 0 || waves < least ? waves : least;
	}
	cell->least[round] = least;
	cell->waves[round] = all / cell->n;
	cell->hosts_us[round] = (b->hosts - a->hosts) * 1e6 / seconds;
	cell->entry_us[round] = (b->entry - a->entry) * 1e6 / seconds;
}

static int cell_measure(struct cell *cell, unsigned round, double seconds, struct error *e)
{
	struct crowd crowd = {.n = 0};
	struct count before, after;
	const char *why;
	int rc = -1;

	if (crowd_start(&crowd, cell, e) == 0 &&
	    bench_until(crowd_is_warm, &crowd, WARM_S, "the first waves", e) == 0 &&
	    count_take(&crowd, &before, e) == 0 && bench_wait(seconds, e) == 0)
		rc = count_take(&crowd, &after, e);
	why = crowd_failed(&crowd);
	if (why)
		rc = errorf(e, "a consumer: %s", why);
	if (rc == 0)
		cell_note(cell, round, &before, &after);
	crowd_end(&crowd);
	return rc;
}

static bool cell_is_wanted(const struct bench_options *o, const struct cell *cell)
{
	return !o->only || strcmp(o->only, cell->name) == 0;
}

static int measure(const struct bench_options *o, struct error *e)
{
	for (unsigned round = 0; round < o->rounds; round++) {
		for (size_t i = 0; i < CELLS; i++) {
			if (cell_is_wanted(o, &cells[i]) &&
			    cell_measure(&cells[i], round, o->seconds, e) < 0)
				return -1;
		}
	}
	return 0;
}

/* ---- what came out ---- */

/* To which the cell compares: the first of its case, or the dearest of those before it. */
static const struct cell *cell_reference(const struct cell *cell, unsigned rounds)
{
	const struct cell *of = cell;

	while (of > cells && strcmp(of[-1].name, cell->name) == 0)
		of--;
	if (cell->n_views == 1)
		return of;
	for (const struct cell *c = of; c < cell; c++) {
		if (figures_median(c->hosts_us, rounds) > figures_median(of->hosts_us, rounds))
			of = c;
	}
	return of;
}

/* What all cells of the case before it cost together. */
static double cell_sum(const struct cell *cell, unsigned rounds)
{
	double sum = 0;

	while (cell > cells && strcmp(cell[-1].name, cell->name) == 0)
		sum += figures_median((--cell)->hosts_us, rounds);
	return sum;
}

static void cell_print(const struct bench_options *o, const struct cell *cell)
{
	const struct cell *of = cell_reference(cell, o->rounds);
	const char *views = cell->n_views > 1 ? "all four" : cell->views[0];
	double hosts = figures_median(cell->hosts_us, o->rounds);
	double entry = figures_median(cell->entry_us, o->rounds);
	double least = figures_median(cell->least, o->rounds);
	double waves = figures_median(cell->waves, o->rounds);
	double ratio = hosts / figures_median(of->hosts_us, o->rounds);
	double sum = cell->n_views > 1 ? hosts / cell_sum(cell, o->rounds) : 0;

	if (o->json)
		printf("{\"bench\":\"share\",\"case\":\"%s\",\"view\":\"%s\",\"consumers\":%u,"
		       "\"hosts_us\":%.1f,\"entry_us\":%.1f,\"waves_per_s\":%.1f,"
		       "\"least_waves_per_s\":%.1f,\"ratio\":%.3f,\"to_sum\":%.3f,\"limit\":%g,"
		       "\"rounds\":%u}\n",
		       cell->name, views, cell->n, hosts, entry, waves, least, ratio, sum,
		       cell->n_views > 1 ? 0 : LIMIT, o->rounds);
	else
		printf("%-9s  %-9s  %9u  %10.0f  %10.0f  %8.1f  %8.1f  %5.2f\n", cell->name, views,
		       cell->n, hosts, entry, waves, least, ratio);
	if (!o->json && sum > 0)
		printf("%-9s  to all four alone, together: %.2f\n", cell->name, sum);
}

static void results_print(const struct bench_options *o)
{
	if (!o->json)
		printf("%u hosts, TLS; medians of %u; us of CPU a second\n\n"
		       "%-9s  %-9s  %9s  %10s  %10s  %8s  %8s  %5s\n",
		       HOSTS, o->rounds, "case", "view", "consumers", "hosts us", "entry us",
		       "waves/s", "least", "ratio");
	for (size_t i = 0; i < CELLS; i++) {
		if (cell_is_wanted(o, &cells[i]))
			cell_print(o, &cells[i]);
	}
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 1, .rounds = 1};
	struct bench_options o = {.seconds = 2, .rounds = 5};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	for (size_t i = 0; i < CELLS; i++) {
		cells[i].hosts_us = memory_new(o.rounds, sizeof(double));
		cells[i].entry_us = memory_new(o.rounds, sizeof(double));
		cells[i].least = memory_new(o.rounds, sizeof(double));
		cells[i].waves = memory_new(o.rounds, sizeof(double));
	}
	bench_begin();
	result = set_up(&e);
	if (result == 0)
		result = measure(&o, &e);
	if (result == 0)
		results_print(&o);
	else
		fprintf(stderr, "share: %s\n", e.text);
	bench_end(writer, SIGKILL);
	space_fini(&space);
	bed_end(&bed);
	for (size_t i = 0; i < CELLS; i++) {
		free(cells[i].hosts_us);
		free(cells[i].entry_us);
		free(cells[i].least);
		free(cells[i].waves);
	}
	return result < 0;
}
