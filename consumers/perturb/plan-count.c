/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of a running program: which of its classes are only counted, as to see their events takes
 * too much. */
#include <stdlib.h>
#include <string.h>

#include "consumers/perturb/planning.h"
#include "pathmap/base/memory.h"

/* The class that takes most for being seen, need not be, and is not @counted; n: there is none. */
static size_t class_dearest(const struct plan_table *table, const bool *counted)
{
	size_t most = table->n;

	for (size_t i = 0; i < table->n; i++) {
		const struct event_class *c = &table->classes[i], *than = &table->classes[most];

		if (!counted[i] && c->minimum <= 0 && c->t_detect > 0 &&
		    (most == table->n ||
		     c->frequency * c->t_detect > than->frequency * than->t_detect))
			most = i;
	}
	return most;
}

bool planning_reduce(const struct planning *p, double *hz, struct reduced_plan *plan)
{
	const size_t n = p->table.n;
	struct event_class *classes = memory_new(n + 1, sizeof(*classes));
	bool *counted = memory_new(n + 1, sizeof(*counted)), found;
	size_t left = n;

	for (size_t i = 0; i < n; i++) {
		classes[i] = p->table.classes[i];
		/* it can be switched to halves of halves alone */
		if (p->live)
			classes[i].minimum = knapsack_part_least(&classes[i]);
	}
	do {
		/* counting takes next to nothing */
		if (left < n) {
			counted[left] = true;
			classes[left].t_detect = classes[left].weight = 0;
		}
		found = knapsack_reduced(classes, n, &p->limits, hz, plan) == 0;
		left = found || !p->live ? n : class_dearest(&p->table, counted);
	} while (left < n);
	for (size_t i = 0; i < n && found; i++) {
		if (!counted[i])
			continue;
		plan->used -= hz[i] * classes[i].t_trace;
		hz[i] = 0;
	}
	free(classes);
	free(counted);
	return found;
}

/* The best plan of those that are not @counted. False: there is none. */
static bool plan_without(const struct planning *p, const bool *counted, struct probing_plan *plan)
{
	const size_t n = p->table.n;
	struct event_class *classes = memory_new(n + 1, sizeof(*classes));
	struct probing_plan *of = knapsack_plans_new(1, n);
	size_t kept = 0;
	double bound;
	bool found;

	for (size_t i = 0; i < n; i++)
		if (!counted[i])
			classes[kept++] = p->table.classes[i];
	found = knapsack_probing(classes, kept, &p->limits, of, 1, &bound) > 0;
	if (found) {
		plan->information = of->information;
		plan->probing_hz = of->probing_hz;
	}
	kept = 0;
	for (size_t i = 0; i < n; i++)
		plan->traced[i] = !counted[i] && of->traced[kept++];
	free(classes);
	knapsack_plans_free(of);
	return found;
}

static void plan_copy(struct probing_plan *to, const struct probing_plan *from, size_t n)
{
	memcpy(to->traced, from->traced, n * sizeof(*to->traced));
	to->information = from->information;
	to->probing_hz = from->probing_hz;
}

bool planning_probe(const struct planning *p, struct probing_plan *plan, bool *counted)
{
	const size_t n = p->table.n;
	struct probing_plan *tried = knapsack_plans_new(1, n);
	bool *now = memory_new(n + 1, sizeof(*now)), found = false;
	size_t left;

	do {
		if (plan_without(p, now, tried) &&
		    (!found || tried->information > plan->information)) {
			found = true;
			plan_copy(plan, tried, n);
			memcpy(counted, now, n * sizeof(*counted));
		}
		left = class_dearest(&p->table, now);
		if (left < n)
			now[left] = true;
	} while (left < n);
	free(now);
	knapsack_plans_free(tried);
	return found;
}

void planning_count(struct planning *p)
{
	struct plan_table *t = &p->table;
	struct probing_plan *plan = knapsack_plans_new(1, t->n);
	bool *counted = memory_new(t->n + 1, sizeof(*counted));
	size_t kept = 0;

	(void)planning_probe(p, plan, counted);
	t->counted = memory_new(t->n + 1, sizeof(*t->counted));
	for (size_t i = 0; i < t->n; i++) {
		if (counted[i]) {
			t->counted[t->n_counted++] = t->names[i];
			continue;
		}
		t->classes[kept] = t->classes[i];
		t->names[kept++] = t->names[i];
	}
	t->n = kept;
	free(counted);
	knapsack_plans_free(plan);
}
