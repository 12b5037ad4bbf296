/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of a search that are left, and the best plans so far. */
#include "consumers/perturb/knapsack-search.h"

#include <string.h>

#include "pathmap/base/memory.h"

/* Classes up to which plans are improved. */
#define CLIMB_MOST 256u

void search_push(struct plan_search *s, struct plan_node *node)
{
	size_t at = s->n_heap;

	s->heap = memory_room(s->heap, s->n_heap, sizeof(*s->heap));
	s->n_heap++;
	while (at > 0 && s->heap[(at - 1) / 2]->bound < node->bound) {
		s->heap[at] = s->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->heap[at] = node;
}

struct plan_node *search_pop(struct plan_search *s)
{
	struct plan_node *first = s->heap[0], *last = s->heap[--s->n_heap];
	size_t at = 0, below;

	while ((below = 2 * at + 1) < s->n_heap) {
		if (below + 1 < s->n_heap && s->heap[below + 1]->bound > s->heap[below]->bound)
			below++;
		if (s->heap[below]->bound <= last->bound)
			break;
		s->heap[at] = s->heap[below];
		at = below;
	}
	if (s->n_heap > 0)
		s->heap[at] = last;
	return first;
}

double search_least(const struct plan_search *s)
{
	return s->n_plans < s->most ? -1 : s->plans[s->n_plans - 1].information;
}

void search_try(struct plan_search *s)
{
	struct probing_plan *plans = s->plans;
	size_t size = s->n * sizeof(*s->tried.traced), at;
	bool *traced;

	if (!knapsack_value(s->classes, s->n, s->budget, &s->tried) ||
	    s->tried.information <= search_least(s))
		return;
	for (size_t i = 0; i < s->n_plans; i++)
		if (memcmp(plans[i].traced, s->tried.traced, size) == 0)
			return;
	if (s->n_plans < s->most)
		s->n_plans++;
	at = s->n_plans - 1;
	traced = plans[at].traced;
	for (; at > 0 && plans[at - 1].information < s->tried.information; at--)
		plans[at] = plans[at - 1];
	memcpy(traced, s->tried.traced, size);
	plans[at] = s->tried;
	plans[at].traced = traced;
}

void search_climb(struct plan_search *s)
{
	if (s->n > CLIMB_MOST || s->tried.probing_hz < 0)
		return;
	knapsack_improve(s->classes, s->n, s->budget, &s->tried);
	search_try(s);
	if (s->n_plans == 0 || s->plans[0].information <= s->climbed)
		return;
	memcpy(s->tried.traced, s->plans[0].traced, s->n * sizeof(*s->tried.traced));
	knapsack_improve(s->classes, s->n, s->budget, &s->tried);
	search_try(s);
	s->climbed = s->plans[0].information;
}

int search_compare(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	if (x->density != y->density)
		return x->density < y->density ? 1 : -1;
	return (x->class > y->class) - (x->class < y->class);
}
