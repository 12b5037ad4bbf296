/* SPDX-License-Identifier: BSD-3-Clause */
/* The best plans with a probe (problem 2), by branch and bound.
 *
 * A plan tells V + p Z: V of what is traced, and Z a probe of what is not, p times a second.
 * Tracing takes from p, so that both factors are linear in the choice, and their product is what is
 * hard. A node has decided some classes, a range of p, and of how many classes are traced. In that
 * range p Z is below two planes (McCormick: Computability of global solutions to factorable
 * nonconvex programs, 1976); with a plane for the product a continuous knapsack remains, whose
 * solution is the bound; where it traces more classes than there may be, or fewer, each has a price
 * (Martello, Toth: Upper bounds and algorithms for hard 0-1 knapsack problems, 1997), without which
 * nearly equal classes could not be told apart. The node is divided by p if the planes are what is
 * far off, else by the number of classes, else by the class that the knapsack cuts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/perturb/knapsack-search.h"
#include "pathmap/base/memory.h"

/* Knapsacks times classes after which a search ends with a bound. */
#define SEARCH_WORK	       1600000u
#define SEARCH_KNAPSACKS_LEAST 64u

/* How to divide the node whose knapsack is @r, with a price of classes or without. */
static void node_divide(const struct plan_search *s, struct plan_node *node,
			const struct relaxed *r, bool priced, size_t traced)
{
	double off = r->told - (r->value + r->probing * r->hits);
	double width = node->high - node->low, at = r->probing;
	size_t count = traced + (size_t)r->traced;

	node->split = 0;
	node->by_count = !priced && r->class < s->n && node->least <= count && count < node->most;
	node->count = count;
	node->class = r->class;
	for (size_t i = 0; i < s->n && node->class == s->n; i++)
		if (node->choice[i] == UNDECIDED)
			node->class = i;
	if (node->class == s->n || width <= s->capacity * KNAPSACK_ROUNDING)
		return;
	if (r->class < s->n && off < (r->bound - search_least(s)) / 2)
		return;
	if (at < node->low + width / 10 || at > node->high - width / 10)
		at = node->low + width / 2;
	node->split = at;
}

/* May the node hold a plan that is among the best? */
static bool search_hopes(const struct plan_search *s, const struct plan_node *node)
{
	double least = search_least(s);

	return node->bound > least + fabs(least) * KNAPSACK_ROUNDING;
}

/* Bound the node, and keep it for later, or free it. */
static void search_add(struct plan_search *s, struct plan_node *node)
{
	struct sums sums = node_sums(s, node);
	struct plane low, high;
	struct relaxed r, other;
	bool priced, also;

	if (node->low > node->high + s->capacity * KNAPSACK_ROUNDING || node->least > node->most) {
		free(node);
		return;
	}
	node->low = fmin(node->low, node->high);
	low = (struct plane){sums.hits, node->low, -node->low * sums.hits, 0};
	high = (struct plane){sums.hits_low, node->high, -node->high * sums.hits_low, 0};
	other = node_bound(s, node, &sums, &low, &also);
	r = node_bound(s, node, &sums, &high, &priced);
	node_fix(s, node, &low, &other);
	node_fix(s, node, &high, &r);
	if (other.bound < r.bound) {
		r = other;
		priced = also;
	}
	node->bound = fmin(node->bound, r.bound);
	node_divide(s, node, &r, priced, sums.traced);
	if (node->class < s->n && search_hopes(s, node))
		search_push(s, node);
	else
		free(node);
}

static struct plan_node *node_copy(const struct plan_search *s, const struct plan_node *from)
{
	struct plan_node *node = memory_new(1, sizeof(*node) + s->n);

	memcpy(node, from, sizeof(*node) + s->n);
	return node;
}

static void search_divide(struct plan_search *s, struct plan_node *node)
{
	struct plan_node *other = node_copy(s, node);

	if (node->split > 0) {
		node->high = node->split;
		other->low = node->split;
	} else if (node->by_count) {
		node->most = node->count;
		other->least = node->count + 1;
	} else {
		node->choice[node->class] = TRACED;
		other->choice[node->class] = SAMPLED;
	}
	search_add(s, node);
	search_add(s, other);
}

static void search_init(struct plan_search *s)
{
	double seen = 0;

	for (size_t i = 0; i < s->n; i++)
		seen += s->classes[i].frequency * s->classes[i].t_detect;
	s->capacity = (s->budget->share - seen) / s->budget->t_sampling;
	s->probes = memory_new(3 * s->n + 1, sizeof(double));
	s->value = s->probes + s->n;
	s->hits = s->value + s->n;
	s->cuts = memory_new(s->n + 1, sizeof(*s->cuts));
	s->order = memory_new(2 * s->n + 1, sizeof(*s->order));
	s->last = s->order + s->n;
	s->tried.traced = memory_new(s->n + 1, sizeof(bool));
	for (size_t i = 0; i < s->n; i++) {
		const struct event_class *c = &s->classes[i];

		s->probes[i] = c->frequency * knapsack_extra(c) / s->budget->t_sampling;
		s->value[i] = c->frequency * c->weight;
		s->hits[i] = c->duty * c->weight;
		s->cuts[i] = (struct cut){.density = -s->probes[i], .class = i};
	}
	qsort(s->cuts, s->n, sizeof(*s->cuts), search_compare);
	for (size_t i = 0; i < s->n; i++)
		s->last[i] = s->order[i] = s->cuts[i].class;
}

static void search_fini(struct plan_search *s)
{
	while (s->n_heap > 0)
		free(s->heap[--s->n_heap]);
	free(s->heap);
	free(s->probes);
	free(s->cuts);
	free(s->order);
	free(s->tried.traced);
}

size_t knapsack_probing(const struct event_class *classes, size_t n,
			const struct plan_budget *budget, struct probing_plan *plans, size_t most,
			double *bound)
{
	struct plan_search s = {
		.classes = classes, .n = n, .budget = budget, .plans = plans, .most = most};
	const size_t knapsacks = SEARCH_WORK / (n + 1) + SEARCH_KNAPSACKS_LEAST;
	struct plan_node *root = memory_new(1, sizeof(*root) + n);
	size_t found;

	search_init(&s);
	if (knapsack_greedy(classes, n, budget, &s.tried))
		search_try(&s);
	root->high = s.capacity;
	root->most = n;
	root->bound = INFINITY;
	search_add(&s, root);
	while (s.n_heap > 0 && s.knapsacks < knapsacks)
		if (search_hopes(&s, s.heap[0]))
			search_divide(&s, search_pop(&s));
		else
			break;
	found = s.n_plans;
	*bound = s.n_heap > 0 && search_hopes(&s, s.heap[0]) ? s.heap[0]->bound : 0;
	search_fini(&s);
	return found;
}
