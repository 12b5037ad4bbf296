/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs two measurements in turn and takes medians of what each pair says. */
#include "tests/bench/pairs.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tests/bench/figures.h"

static struct pairs medians(const double *ns, const double *limits, double *ratios, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ratios[i] = ns[i] / limits[i];
	return (struct pairs){
		.ns = figures_median(ns, n),
		.limit_ns = figures_median(limits, n),
		.ratio = figures_median(ratios, n),
	};
}

struct pairs pairs_measure(double (*what)(void), double (*limit)(void), size_t n)
{
	double *values = memory_new(3 * n, sizeof(*values));
	double *ns = values, *limits = values + n;
	struct pairs result;

	limit();
	what();
	for (size_t i = 0; i < n; i++) {
		if (i % 2 == 0)
			limits[i] = limit();
		ns[i] = what();
		if (i % 2 == 1)
			limits[i] = limit();
	}
	result = medians(ns, limits, values + 2 * n, n);
	free(values);
	return result;
}

struct pairs pairs_of(const double *ns, const double *limits, size_t n)
{
	double *ratios = memory_new(n + 1, sizeof(*ratios));
	struct pairs result = medians(ns, limits, ratios, n);

	if (n > 0)
		figures_interval(ratios, n, &result.low, &result.high);
	free(ratios);
	return result;
}
