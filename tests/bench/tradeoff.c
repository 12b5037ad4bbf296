/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The EventSpace paper's trade-off (section 6.2): how much slower the wind tunnel, size small, gets
 * when a consumer pulls one tuple from all trace elements so many times a second.
 *
 * The program runs on, collected from all the time, while a consumer is held and let go in turn
 * (SIGSTOP: agents that nobody asks do nothing). Each stretch with it is compared with the stretch
 * without it right beside: that leaves out what differs between two starts of a program, and most
 * of what others do to this machine meanwhile. Progress is read off the elements, so that measuring
 * it costs the program nothing.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/store/store-run.h"
#include "node-agent/store/store.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bed.h"
#include "tests/bench/bench.h"
#include "tests/bench/figures.h"
#include "tests/bench/puller.h"

#define RANKS	  4
#define HOSTS	  4
#define RUN	  "windtunnel"
#define STARTED_S 60
#define WARM_S	  20
/* A stretch has so many events at least (some ten steps), and lasts so many times as long at most.
 */
#define STRETCH_EVENTS 2000u
#define STRETCHES_MOST 50

static const char about[] = "usage: tradeoff [options]\n"
			    "\n"
			    "How much slower the wind tunnel (tests/apps/windtunnel --size small, "
			    "4 ranks) gets when a\n"
			    "consumer pulls the newest tuple of all its trace elements 25, 106 and "
			    "1,000 times a second\n"
			    "through a two-level tree of agents. It is collected from all the "
			    "time; stretches of one run\n"
			    "with and without the consumer are compared in pairs. Program, agents "
			    "and consumer share this\n"
			    "machine's cores. The paper: 1.07 at 25 waves a second, 1.50 at 106.\n";

/* A rate of waves, the consumer that asks for them, and what was measured in each pair. */
struct step {
	double rate;
	unsigned window; /* waves under way: some 10 ms of them */
	pid_t puller;	 /* held but for its stretches */
	struct tally *tally;
	double *slowdown, *got, *alone; /* got: waves a second; alone: events a second without */
};

static struct step steps[] = {
	{.rate = 25, .window = 1},
	{.rate = 106, .window = 2},
	{.rate = 1000, .window = 16},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static struct bed bed;
static struct store store;
static pid_t tunnel;
static char tunnel_log[160];
static uint32_t elements; /* that a wave has a tuple of */

/* ---- the program ---- */

static uint64_t events_so_far(void)
{
	struct store_run *runs;
	uint64_t events = 0;
	size_t n;

	store_refresh(&store);
	n = store_runs(&store, &runs);
	for (size_t i = 0; i < n; i++)
		events += runs[i].events;
	free(runs);
	return events;
}

/* All ranks are there, and past their first steps. */
static bool tunnel_works(void *arg)
{
	struct store_run *runs;
	bool works = false;

	(void)arg;
	store_refresh(&store);
	if (store_runs(&store, &runs) == 1)
		works = runs[0].alive == RANKS && runs[0].events > RANKS * 10000;
	free(runs);
	return works;
}

static int tunnel_start(struct error *e)
{
	char evspace[4096], program[4096];
	char *argv[] = {evspace,
			(char[]){"run"},
			(char[]){"--run"},
			(char[]){RUN},
			(char[]){"--no-summary"},
			(char[]){"--"},
			(char[]){"mpirun"},
			(char[]){"-np"},
			(char[]){"4"},
			program,
			(char[]){"--size"},
			(char[]){"small"},
			(char[]){"--seconds"},
			(char[]){"1000000"},
			NULL};

	bench_mpi();
	bench_built("evspace", evspace, sizeof(evspace));
	bench_built("tests/apps/windtunnel", program, sizeof(program));
	snprintf(tunnel_log, sizeof(tunnel_log), "%s/windtunnel.log", bed.dir);
	tunnel = bench_start(argv, tunnel_log, e);
	if (tunnel < 0)
		return -1;
	if (bench_until(tunnel_works, NULL, STARTED_S, "the wind tunnel's start", e) == 0)
		return 0;
	return bench_quote(tunnel_log, e);
}

static int set_up(struct error *e)
{
	if (bed_begin(&bed, e) < 0 ||
	    bed_map(&bed, "application.map", e,
		    "application windtunnel { ranks rank[0-%d];\nview newest { " BED_NEWEST
		    " } }\n",
		    RANKS - 1) < 0 ||
	    bed_clusters(&bed, RANKS / 2, e) < 0 || bed_start(&bed, e) < 0 ||
	    store_init(&store, bed.space, false, e) < 0)
		return -1;
	return tunnel_start(e);
}

/* ---- measuring ---- */

/*
 * Events a second over @seconds: so many in each step of the program, all steps alike. Longer where
 * others leave the program so little of the machine that hardly a step is done.
 */
static int pace_measure(double seconds, double *pace, struct error *e)
{
	uint64_t before = events_so_far(), events = 0;
	double since = bench_seconds();

	for (int i = 0; i < STRETCHES_MOST && events < STRETCH_EVENTS; i++) {
		if (bench_wait(seconds, e) < 0)
			return bench_quote(tunnel_log, e);
		events = events_so_far() - before;
	}
	*pace = (double)events / (bench_seconds() - since);
	if (events > 0)
		return 0;
	errno = ETIMEDOUT;
	return errorf(e, "the wind tunnel stands still");
}

static bool has_begun(void *arg)
{
	const struct tally *tally = arg;

	return tally_failed(tally) || atomic_load(&tally->waves) > 2;
}

/* Start the consumer, and hold it once waves have come. */
static int step_start(struct step *step, struct error *e)
{
	struct puller_options o = bed_puller(&bed, "newest", RUN);

	o.window = step->window;
	o.rate = step->rate;
	o.hosts = HOSTS;
	step->tally = tally_new();
	step->puller = puller_start(&o, step->tally, e);
	if (step->puller < 0)
		return -1;
	if (bench_until(has_begun, step->tally, WARM_S, "the first waves", e) < 0)
		return -1;
	elements = atomic_load(&step->tally->tuples);
	kill(step->puller, SIGSTOP);
	return 0;
}

static int watched_measure(const struct step *step, double seconds, double *pace, double *got,
			   struct error *e)
{
	uint64_t waves = atomic_load(&step->tally->waves);
	double since = bench_seconds();
	int result;

	kill(step->puller, SIGCONT);
	result = pace_measure(seconds, pace, e);
	*got = (double)(atomic_load(&step->tally->waves) - waves) / (bench_seconds() - since);
	kill(step->puller, SIGSTOP);
	return result;
}

/* With and without, in turn first: what drifts goes into both. */
static int pair_measure(const struct step *step, unsigned round, double seconds, struct error *e)
{
	double alone = 0, watched = 0;

	if (round % 2 == 0 && pace_measure(seconds, &alone, e) < 0)
		return -1;
	if (watched_measure(step, seconds, &watched, &step->got[round], e) < 0)
		return -1;
	if (round % 2 == 1 && pace_measure(seconds, &alone, e) < 0)
		return -1;
	step->alone[round] = alone;
	step->slowdown[round] = alone / watched;
	return 0;
}

/* The reason that the consumer gave, if it has, instead of what is in @e. */
static int step_fail(const struct step *step, struct error *e)
{
	if (tally_failed(step->tally))
		errorf(e, "the consumer: %s", step->tally->why);
	return error_prefix(e, "%g waves a second", step->rate);
}

static int measure(const struct bench_options *o, struct error *e)
{
	for (size_t i = 0; i < STEPS; i++) {
		steps[i].slowdown = memory_new(o->rounds, sizeof(double));
		steps[i].got = memory_new(o->rounds, sizeof(double));
		steps[i].alone = memory_new(o->rounds, sizeof(double));
		if (step_start(&steps[i], e) < 0)
			return step_fail(&steps[i], e);
	}
	for (unsigned round = 0; round < o->rounds; round++) {
		for (size_t i = 0; i < STEPS; i++) {
			if (pair_measure(&steps[i], round, o->seconds, e) < 0 ||
			    tally_failed(steps[i].tally))
				return step_fail(&steps[i], e);
		}
	}
	return 0;
}

/* ---- what came out ---- */

static void results_print(const struct bench_options *o)
{
	if (!o->json)
		printf("wind tunnel, size small, %d ranks on %ld cores shared with %zu agents and "
		       "the "
		       "consumer; %u pairs of %g s\n\n"
		       "%9s  %9s  %8s  %8s  %-14s  %s\n",
		       RANKS, sysconf(_SC_NPROCESSORS_ONLN), bed.n_agents, o->rounds, o->seconds,
		       "waves/s", "delivered", "elements", "slowdown", "95 %", "events/s alone");
	for (size_t i = 0; i < STEPS; i++) {
		double slowdown = figures_median(steps[i].slowdown, o->rounds), low, high;
		double got = figures_median(steps[i].got, o->rounds);
		double alone = figures_median(steps[i].alone, o->rounds);

		figures_interval(steps[i].slowdown, o->rounds, &low, &high);
		if (o->json)
			printf("{\"bench\":\"tradeoff\",\"rate_hz\":%g,\"slowdown\":%.4f,"
			       "\"low\":%.4f,\"high\":%.4f,\"pairs\":%u,\"waves_per_s\":%.1f,"
			       "\"elements\":%u,\"agents\":%zu,\"events_per_s\":%.0f}\n",
			       steps[i].rate, slowdown, low, high, o->rounds, got, elements,
			       bed.n_agents, alone);
		else
			printf("%9g  %9.1f  %8u  %8.3f  %5.3f to %5.3f  %.0f\n", steps[i].rate, got,
			       elements, slowdown, low, high, alone);
	}
}

int main(int argc, char **argv)
{
	static const struct bench_options quick = {.seconds = 0.25, .rounds = 10};
	struct bench_options o = {.seconds = 0.4, .rounds = 50};
	struct error e = {""};
	int result;

	bench_parse(argc, argv, &o, &quick, about);
	bench_begin();
	result = set_up(&e);
	if (result == 0)
		result = measure(&o, &e);
	if (result == 0)
		results_print(&o);
	else
		fprintf(stderr, "tradeoff: %s\n", e.text);
	for (size_t i = 0; i < STEPS; i++)
		bench_end(steps[i].puller, SIGKILL);
	bench_end(tunnel, SIGTERM);
	store_fini(&store);
	bed_end(&bed);
	for (size_t i = 0; i < STEPS; i++) {
		tally_free(steps[i].tally);
		free(steps[i].slowdown);
		free(steps[i].got);
		free(steps[i].alone);
	}
	return result < 0 ? 1 : 0;
}
