/* SPDX-License-Identifier: BSD-3-Clause */
/* Medians by sorting, their intervals by drawing from the values again. */
#include "tests/bench/figures.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

#define RESAMPLES 4000u

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double sorted_median(const double *sorted, size_t n)
{
	return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double figures_median(const double *values, size_t n)
{
	double *sorted = memory_new(n + 1, sizeof(*sorted)), median;

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	median = sorted_median(sorted, n);
	free(sorted);
	return median;
}

/* xorshift64* (Vigna 2016): good enough to draw from a handful of values. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545F4914F6CDD1D) >> 33;
}

void figures_interval(const double *values, size_t n, double *low, double *high)
{
	double *medians = memory_new(RESAMPLES, sizeof(*medians));
	double *sample = memory_new(n, sizeof(*sample));
	uint64_t state = 88172645463325252;

	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t k = 0; k < n; k++)
			sample[k] = values[draw(&state) % n];
		qsort(sample, n, sizeof(*sample), compare);
		medians[i] = sorted_median(sample, n);
	}
	qsort(medians, RESAMPLES, sizeof(*medians), compare);
	*low = medians[RESAMPLES / 40];
	*high = medians[RESAMPLES - 1 - RESAMPLES / 40];
	free(sample);
	free(medians);
}
