/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that are added up: their count, sum, extremes, mean and variance. */
#ifndef EVSPACE_PROBE_STAT_H
#define EVSPACE_PROBE_STAT_H

#include "consumers/mir/request.h"

/** Zeroed at first. */
struct probe_stat {
	double count, sum, min, max, mean;
	double m2; /* sum of the squares of what the numbers are away from the mean */
};

/** The same, and whose the extremes are. */
struct probe_sum {
	struct probe_stat stat;
	char *most[MIR_LEVELS], *least[MIR_LEVELS]; /* NULL: none */
};

/** Add all that @more has (Chan, Golub, LeVeque 1979). */
void probe_stat_merge(struct probe_stat *stat, const struct probe_stat *more);

/** One number. */
struct probe_stat probe_stat_of(double value);

/** The figure of a function. */
double probe_stat_figure(const struct probe_stat *stat, enum mir_function function);

/** Add @more of whom @ids says. */
void probe_sum_add(struct probe_sum *sum, const struct probe_stat *more,
		   const char *const ids[MIR_LEVELS]);
void probe_sum_fini(struct probe_sum *sum);

#endif
