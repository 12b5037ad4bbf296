/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs: two things that take turns, so that whatever disturbs the machine disturbs both. */
#ifndef EVSPACE_BENCH_PAIRS_H
#define EVSPACE_BENCH_PAIRS_H

#include <stddef.h>

/** What came out: medians over the pairs. */
struct pairs {
	double ns;	  /* of what is measured */
	double limit_ns;  /* of what it is measured against */
	double ratio;	  /* of the two, in each pair */
	double low, high; /* 95 % interval of the ratio; both 0: not asked for */
};

/** Pairs of a full run and of a first look (--quick). */
enum { PAIRS_FULL = 401, PAIRS_QUICK = 51 };

/** Which one goes first changes from pair to pair; one more before they count. */
struct pairs pairs_measure(double (*what)(void), double (*limit)(void), size_t n);

/** Of @n pairs that were measured elsewhere; with the interval. */
struct pairs pairs_of(const double *ns, const double *limits, size_t n);

#endif
