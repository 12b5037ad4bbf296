/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans with a probe made better by one class, or two: what a search that rounds has missed. */
#include <stdlib.h>

#include "consumers/perturb/knapsack.h"
#include "pathmap/base/memory.h"

/* A plan: probes that tracing takes the place of, V of what is traced, Z a probe of what is not. */
struct plan_climb {
	size_t n;
	bool *traced;
	double capacity, probes, value, hits;
	double *of_probes, *of_value, *of_hits; /* of each class */
};

/* What it tells if these two change; n: none. Below 0: the budget does not allow it. */
static double climb_value(const struct plan_climb *c, size_t i, size_t j)
{
	double probes = c->probes, value = c->value, hits = c->hits, left;

	for (size_t k = i;; k = j) {
		double sign = k == c->n ? 0 : c->traced[k] ? -1 : 1;

		if (k < c->n) {
			probes += sign * c->of_probes[k];
			value += sign * c->of_value[k];
			hits -= sign * c->of_hits[k];
		}
		if (k == j)
			break;
	}
	left = c->capacity - probes;
	if (left < -c->capacity * KNAPSACK_ROUNDING)
		return -1;
	return value + left * hits;
}

static void climb_change(struct plan_climb *c, size_t i)
{
	double sign = i == c->n ? 0 : c->traced[i] ? -1 : 1;

	if (i == c->n)
		return;
	c->traced[i] = !c->traced[i];
	c->probes += sign * c->of_probes[i];
	c->value += sign * c->of_value[i];
	c->hits -= sign * c->of_hits[i];
}

/* The best change of one class, or of two of which one is traced. Returns whether there is one. */
static bool climb_step(struct plan_climb *c)
{
	double best = climb_value(c, c->n, c->n) * (1 + KNAPSACK_ROUNDING);
	size_t first = c->n, second = c->n;

	for (size_t i = 0; i < c->n; i++) {
		for (size_t j = i + 1; j <= c->n; j++) {
			double told;

			if (j < c->n && c->traced[i] == c->traced[j])
				continue;
			told = climb_value(c, i, j);
			if (told <= best)
				continue;
			best = told;
			first = i;
			second = j;
		}
	}
	climb_change(c, first);
	climb_change(c, second);
	return first < c->n;
}

void knapsack_improve(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		      struct probing_plan *plan)
{
	struct plan_climb c = {.n = n, .traced = plan->traced};
	double seen = 0;

	c.of_probes = memory_new(3 * n + 1, sizeof(double));
	c.of_value = c.of_probes + n;
	c.of_hits = c.of_value + n;
	for (size_t i = 0; i < n; i++) {
		const struct event_class *class = &classes[i];

		c.of_probes[i] = class->frequency * knapsack_extra(class) / budget->t_sampling;
		c.of_value[i] = class->frequency * class->weight;
		c.of_hits[i] = class->duty * class->weight;
		seen += class->frequency * class->t_detect;
		c.probes += plan->traced[i] ? c.of_probes[i] : 0;
		c.value += plan->traced[i] ? c.of_value[i] : 0;
		c.hits += plan->traced[i] ? 0 : c.of_hits[i];
	}
	c.capacity = (budget->share - seen) / budget->t_sampling;
	while (climb_step(&c))
		;
	free(c.of_probes);
	knapsack_value(classes, n, budget, plan);
}
