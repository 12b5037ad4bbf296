/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks the points of a Pareto curve. */
#include "consumers/budget/pareto.h"

static bool is_better(const struct pareto_point *a, const struct pareto_point *b)
{
	return a->rate_hz >= b->rate_hz && a->slowdown <= b->slowdown &&
	       (a->rate_hz > b->rate_hz || a->slowdown < b->slowdown);
}

void pareto_mark(struct pareto_point *points, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		points[i].best = true;
		for (size_t k = 0; k < n; k++)
			points[i].best = points[i].best && !is_better(&points[k], &points[i]);
	}
}
