/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of repeated measurements: medians, and how sure they are. */
#ifndef EVSPACE_BENCH_FIGURES_H
#define EVSPACE_BENCH_FIGURES_H

#include <stddef.h>

/** The median of @n > 0 values; 0 of none. */
double figures_median(const double *values, size_t n);

/**
 * The 95 % interval of the median of @n > 0 values by the percentile bootstrap (Efron 1979), from
 * resamples that are the same each time for the same values.
 */
void figures_interval(const double *values, size_t n, double *low, double *high);

#endif
