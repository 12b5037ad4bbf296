/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of what the bench of perturbation has found, and its cases. */
#ifndef EVSPACE_BENCH_SLOWDOWN_H
#define EVSPACE_BENCH_SLOWDOWN_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "tests/bench/bench.h"

/** All in percent. */
struct slowdown {
	const char *kind;    /* "planted", "aa", "budget" */
	const char *program; /* "simulated", "iterate", "windtunnel small", ... */
	double percent;	     /* that was planted, or may be spent */
	double estimate, low, high;
	bool covered;	 /* the interval holds what was planted; or is within the budget */
	unsigned rounds; /* pairs of blocks, or of runs */
	/* where somebody looked: waves a second that came (of runs in the last one), and that its
	 * budget allowed in the end; and what its own experiment says that it cost, in percent;
	 * NAN: nobody did, or it says nothing */
	double rate_hz, allowed_hz;
	double said, said_low, said_high;
};

/** One of which nothing is known yet. */
struct slowdown slowdown_of(const char *kind, const char *program, double percent);

/** Print it, as a line of a table or of JSON. */
void slowdown_print(const struct slowdown *s, bool json);

/** Planted slowdowns and none in real programs, by `evspace perturb`. Returns 0, or -1 with @e. */
int slowdown_planted(const struct bench_options *o, struct error *e);

/** Runs of programs with a consumer that has a budget, and without, in pairs. Likewise. */
int slowdown_budgets(const struct bench_options *o, struct error *e);

#endif
