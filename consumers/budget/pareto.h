/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of many settings are worth having: no other one looks as often for less. */
#ifndef EVSPACE_PARETO_H
#define EVSPACE_PARETO_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes of a label. */
#define PARETO_LABEL 64u

/** A setting that was measured. */
struct pareto_point {
	double rate_hz;		    /* that came */
	double slowdown, low, high; /* factors: 1.07 is 7 % slower; low and high may be infinite */
	bool best;		    /* on the curve */
	char label[PARETO_LABEL];   /* what was set: "flat, count" */
};

/** Mark those @n points as best that none of the others is better than: as fast at least, as cheap
 * at least, and one of both more. */
void pareto_mark(struct pareto_point *points, size_t n);

#endif
