/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes points of states. */
#include "consumers/phase/points.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"

void points_init(struct points *p, const struct execution *x, uint32_t base, const double *vectors,
		 unsigned n_components)
{
	unsigned n = x->shape.processes, in_subset = 0;

	*p = (struct points){
		.processes = n, .n_components = n_components, .base = base, .vectors = vectors};
	p->mean = memory_new(n, sizeof(*p->mean));
	p->unit = memory_new(n, sizeof(*p->unit));
	p->subset_unit = memory_new(n, sizeof(*p->subset_unit));
	for (unsigned i = 0; i < n; i++) {
		p->mean[i] = moments_mean(&x->moments, i);
		p->unit[i] = axes_unit(i, n);
		if (x->shape.subset && x->shape.subset[i])
			p->subset_unit[i] = axes_unit(in_subset++, x->subset.processes);
	}
}

void points_fini(struct points *p)
{
	free(p->mean);
	free(p->unit);
	free(p->subset_unit);
	*p = (struct points){0};
}

void points_next(struct points *p, const struct execution *x, struct point *point)
{
	if (x->runs != p->run) {
		p->run = x->runs;
		p->before = x->rows;
	}
	*point = (struct point){.run = p->run, .number = x->rows - p->before + 1, .time = x->time};
	for (unsigned i = 0; i < p->processes; i++) {
		point->at = axes_add(point->at, p->unit[i], x->block[i] + p->base);
		point->subset_at =
			axes_add(point->subset_at, p->subset_unit[i], x->block[i] + p->base);
		for (unsigned k = 0; k < p->n_components; k++)
			point->score[k] += p->vectors[(size_t)k * p->processes + i] *
					   (x->block[i] - p->mean[i]);
	}
	point->entropy = multiplicity_spread(&x->whole);
	if (x->subset.processes > 0)
		point->subset_entropy = multiplicity_spread(&x->subset);
}
