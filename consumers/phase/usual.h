/* SPDX-License-Identifier: BSD-3-Clause */
/* What is usual of a figure, span by span, and when that changes. Pure. */
#ifndef EVSPACE_USUAL_H
#define EVSPACE_USUAL_H

#include <stdbool.h>

/** Spans that say what is usual, the newest ones, and how many it takes. */
#define USUAL_SPANS 16u
#define USUAL_LEAST 5u

/** Zeroed: nothing is known yet. */
struct usual {
	double value[USUAL_SPANS];
	unsigned n; /* so far; the last one is at (n - 1) % USUAL_SPANS */
	int away;   /* 1, -1: the span before was above, below what is usual; 0: it was not */
	double held;
};

/** By how much, and how unlikely, a figure is to differ from what is usual. */
struct usual_bounds {
	double least, share; /* a number, and a share of what is usual: more than both */
	double unlikely;
};

struct usual_change {
	double now, before;
	double unlikely; /* by Student's t */
};

/**
 * The next span has @value. Returns 1 or -1 with *@change if it is the second in a row that is
 * above, or below, what is usual, by more than the bounds say: from the first of the two on it is
 * another one, and what is usual is learned anew. Else returns 0.
 */
int usual_next(struct usual *u, double value, const struct usual_bounds *bounds,
	       struct usual_change *change);

/** Is it known just now, for the first time since it began or changed? */
static inline bool usual_known(const struct usual *u)
{
	return u->n == USUAL_LEAST && u->away == 0;
}

/** The mean of what is usual; 0: nothing is known. */
double usual_mean(const struct usual *u);

#endif
