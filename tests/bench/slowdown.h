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
	bool covered;	 /* the interval holds what was planted; or the estimate keeps the budget */
	unsigned rounds; /* pairs of blocks, or of runs */
	double rate_hz;	 /* waves a second that came; 0: nobody looked */
};

/** Print it, as a line of a table or of JSON. */
void slowdown_print(const struct slowdown *s, bool json);

/** Planted slowdowns and none in real programs, by `evspace perturb`. Returns 0, or -1 with @e. */
int slowdown_planted(const struct bench_options *o, struct error *e);

/** Runs of programs with a consumer that has a budget, and without, in pairs. Likewise. */
int slowdown_budgets(const struct bench_options *o, struct error *e);

#endif
