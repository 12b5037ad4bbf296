/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the wind tunnel, and counts the events that it has written. */
#include "tests/bench/tunnel.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/store/store-run.h"
#include "node-agent/store/store.h"
#include "pathmap/base/memory.h"
#include "tests/bench/bed.h"
#include "tests/bench/bench.h"

#define STARTED_S  60
#define WORDS_MOST 24
/* A stretch has so many events at least (some ten steps), and lasts so many times as long at most.
 */
#define STRETCH_EVENTS 2000u
#define STRETCHES_MOST 50

struct tunnel {
	struct store store;
	pid_t pid;
	char log[160];
};

/* Its run so far; false: there is none yet. */
static bool run_find(struct tunnel *t, struct store_run *run)
{
	struct store_run *runs;
	bool found = false;
	size_t n;

	store_refresh(&t->store);
	n = store_runs(&t->store, &runs);
	for (size_t i = 0; i < n && !found; i++) {
		found = strcmp(runs[i].name, TUNNEL_RUN) == 0;
		if (found)
			*run = runs[i];
	}
	free(runs);
	return found;
}

static bool tunnel_works(void *arg)
{
	struct store_run run;

	return run_find(arg, &run) && run.alive == TUNNEL_RANKS &&
	       run.events > TUNNEL_RANKS * 10000;
}

static int tunnel_start(struct tunnel *t, const char *const *more, struct error *e)
{
	char evspace[4096], program[4096];
	const char *argv[WORDS_MOST] = {evspace,  "run",    "--run",	 TUNNEL_RUN, "--no-summary",
					"--",	  "mpirun", "-np",	 "4",	     program,
					"--size", "small",  "--seconds", "1000000"};
	size_t n = 14;

	while (more && *more && n < WORDS_MOST - 1)
		argv[n++] = *more++;
	bench_mpi();
	bench_built("evspace", evspace, sizeof(evspace));
	bench_built("tests/apps/windtunnel", program, sizeof(program));
	t->pid = bench_start((char *const *)(uintptr_t)argv, t->log, e);
	if (t->pid < 0)
		return -1;
	if (bench_until(tunnel_works, t, STARTED_S, "the wind tunnel's start", e) == 0)
		return 0;
	return bench_quote(t->log, e);
}

struct tunnel *tunnel_new(const struct bed *bed, const char *const *more, struct error *e)
{
	struct tunnel *t = memory_new(1, sizeof(*t));

	snprintf(t->log, sizeof(t->log), "%s/windtunnel.log", bed->dir);
	if (store_init(&t->store, bed->space, false, e) < 0) {
		free(t);
		return NULL;
	}
	if (tunnel_start(t, more, e) == 0)
		return t;
	tunnel_free(t);
	return NULL;
}

void tunnel_free(struct tunnel *t)
{
	if (!t)
		return;
	bench_end(t->pid, SIGTERM);
	store_fini(&t->store);
	free(t);
}

static uint64_t events_so_far(struct tunnel *t)
{
	struct store_run run;

	return run_find(t, &run) ? run.events : 0;
}

int tunnel_pace(struct tunnel *t, double seconds, double *pace, struct error *e)
{
	uint64_t before = events_so_far(t), events = 0;
	double since = bench_seconds();

	for (int i = 0; i < STRETCHES_MOST && events < STRETCH_EVENTS; i++) {
		if (bench_wait(seconds, e) < 0)
			return bench_quote(t->log, e);
		events = events_so_far(t) - before;
	}
	*pace = (double)events / (bench_seconds() - since);
	if (events > 0)
		return 0;
	errno = ETIMEDOUT;
	return errorf(e, "the wind tunnel stands still");
}
