/* SPDX-License-Identifier: BSD-3-Clause */
/* The best plans with a probe (problem 2), by branch and bound.
 *
 * A plan tells V + p Z: V of what is traced, and Z a probe of what is not, p times a second.
 * Tracing takes from p, so that both factors are linear in the choice, and their product is what is
 * hard. A node has decided some classes, and a range of p. In that range p Z is below two planes
 * (McCormick: Computability of global solutions to factorable nonconvex programs, 1976); with a
 * plane for the product a continuous knapsack remains, whose solution is the bound. The node is
 * divided by the class that the knapsack cuts, or by p if the planes are what is far off. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/perturb/knapsack.h"
#include "pathmap/base/memory.h"

/* Steps times classes after which a search ends with a bound. */
#define SEARCH_WORK	   400000u
#define SEARCH_STEPS_LEAST 16u

enum choice { UNDECIDED, SAMPLED, TRACED };

struct plan_node {
	double bound;		/* no plan of it tells more */
	double low, high;	/* range of the probe's frequency */
	double split;		/* where to divide the range; 0: divide by a class */
	size_t class;		/* which is divided by; n: it is one plan */
	unsigned char choice[]; /* enum choice, one a class */
};

/* What a node's decided classes sum up to, and all others. */
struct sums {
	double probes, value;	 /* of what is traced: probes that it takes the place of, V */
	double hits_low, hits;	 /* Z if all others are traced, and if none is */
	double undecided_probes; /* if all others are traced */
};

/* An undecided class in a node's knapsack. */
struct cut {
	double density, profit;
	size_t class;
};

struct plan_search {
	const struct event_class *classes;
	size_t n;
	const struct plan_budget *budget;
	double capacity;	       /* the probe's frequency if nothing is traced */
	double *probes, *value, *hits; /* of each class */
	struct cut *cuts;
	struct plan_node **heap; /* the one with the highest bound first */
	size_t n_heap;
	struct probing_plan *plans, tried;
	size_t most, n_plans;
};

static void heap_add(struct plan_search *s, struct plan_node *node)
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

static struct plan_node *heap_take(struct plan_search *s)
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

/* What a plan must tell more than to be among the best. */
static double search_least(const struct plan_search *s)
{
	return s->n_plans < s->most ? -1 : s->plans[s->n_plans - 1].information;
}

/* May the node hold a plan that is among the best? */
static bool search_hopes(const struct plan_search *s, const struct plan_node *node)
{
	double least = search_least(s);

	return node->bound > least + fabs(least) * KNAPSACK_ROUNDING;
}

/* Keep the plan that is tried, if it is allowed, new, and among the best. */
static void search_try(struct plan_search *s)
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

/* Sum up the node, and narrow its range to what its decisions leave. */
static struct sums node_sums(const struct plan_search *s, struct plan_node *node)
{
	struct sums sums = {0};

	for (size_t i = 0; i < s->n; i++) {
		if (node->choice[i] == TRACED) {
			sums.probes += s->probes[i];
			sums.value += s->value[i];
			continue;
		}
		sums.hits += s->hits[i];
		if (node->choice[i] == UNDECIDED) {
			sums.undecided_probes += s->probes[i];
			continue;
		}
		sums.hits_low += s->hits[i];
		if (s->classes[i].minimum > node->low)
			node->low = s->classes[i].minimum;
	}
	node->high = fmin(node->high, s->capacity - sums.probes);
	node->low = fmax(node->low, s->capacity - sums.probes - sums.undecided_probes);
	return sums;
}

static int compare_cuts(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	if (x->density != y->density)
		return x->density < y->density ? 1 : -1;
	return (x->class > y->class) - (x->class < y->class);
}

/* The solution of a node's continuous knapsack. */
struct relaxed {
	double bound;
	double probing, hits, value; /* p, Z and V there */
	size_t n_traced;	     /* so many first cuts are traced whole */
	size_t class;		     /* which is cut; n: none */
};

/* The knapsack with the plane value + by_probing p + by_hits Z + @level over the node's range. */
static struct relaxed node_relaxed(struct plan_search *s, const struct plan_node *node,
				   const struct sums *sums, double by_probing, double by_hits,
				   double level)
{
	struct relaxed r = {.probing = s->capacity - sums->probes,
			    .hits = sums->hits,
			    .value = sums->value,
			    .class = s->n};
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		double profit;

		if (node->choice[i] != UNDECIDED)
			continue;
		profit = s->value[i] - by_hits * s->hits[i] - by_probing * s->probes[i];
		s->cuts[n++] = (struct cut){profit / s->probes[i], profit, i};
	}
	qsort(s->cuts, n, sizeof(*s->cuts), compare_cuts);
	r.bound = r.value + by_probing * r.probing + by_hits * r.hits + level;
	for (size_t i = 0; i < n; i++) {
		const struct cut *c = &s->cuts[i];
		double to = c->profit > 0 ? node->low : node->high, share;

		if (r.probing <= to)
			break;
		share = fmin(1, (r.probing - to) / s->probes[c->class]);
		r.bound += share * c->profit;
		r.probing -= share * s->probes[c->class];
		r.hits -= share * s->hits[c->class];
		r.value += share * s->value[c->class];
		if (share < 1) {
			r.class = c->class;
			break;
		}
		r.n_traced++;
	}
	return r;
}

/* Try the plan of the classes that a node's knapsack traces whole. */
static void node_round(struct plan_search *s, const struct plan_node *node, const struct relaxed *r)
{
	for (size_t i = 0; i < s->n; i++)
		s->tried.traced[i] = node->choice[i] == TRACED;
	for (size_t i = 0; i < r->n_traced; i++)
		s->tried.traced[s->cuts[i].class] = true;
	search_try(s);
}

/* How to divide the node whose knapsack is @r. */
static void node_divide(const struct plan_search *s, struct plan_node *node,
			const struct relaxed *r)
{
	double off = r->bound - (r->value + r->probing * r->hits);
	double width = node->high - node->low, at = r->probing;

	node->split = 0;
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

/* Bound the node, and keep it for later, or free it. */
static void search_add(struct plan_search *s, struct plan_node *node)
{
	struct sums sums = node_sums(s, node);
	struct relaxed r, other;

	if (node->low > node->high + s->capacity * KNAPSACK_ROUNDING) {
		free(node);
		return;
	}
	node->low = fmin(node->low, node->high);
	other = node_relaxed(s, node, &sums, sums.hits, node->low, -node->low * sums.hits);
	node_round(s, node, &other);
	r = node_relaxed(s, node, &sums, sums.hits_low, node->high, -node->high * sums.hits_low);
	node_round(s, node, &r);
	if (other.bound < r.bound)
		r = other;
	node->bound = fmin(node->bound, r.bound);
	node_divide(s, node, &r);
	if (node->class < s->n && search_hopes(s, node))
		heap_add(s, node);
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
	s->tried.traced = memory_new(s->n + 1, sizeof(bool));
	for (size_t i = 0; i < s->n; i++) {
		const struct event_class *c = &s->classes[i];

		s->probes[i] = c->frequency * knapsack_extra(c) / s->budget->t_sampling;
		s->value[i] = c->frequency * c->weight;
		s->hits[i] = c->duty * c->weight;
	}
}

static void search_fini(struct plan_search *s)
{
	while (s->n_heap > 0)
		free(s->heap[--s->n_heap]);
	free(s->heap);
	free(s->probes);
	free(s->cuts);
	free(s->tried.traced);
}

size_t knapsack_probing(const struct event_class *classes, size_t n,
			const struct plan_budget *budget, struct probing_plan *plans, size_t most,
			double *bound)
{
	struct plan_search s = {
		.classes = classes, .n = n, .budget = budget, .plans = plans, .most = most};
	size_t steps = SEARCH_WORK / (n + 1) + SEARCH_STEPS_LEAST;
	struct plan_node *root = memory_new(1, sizeof(*root) + n);
	size_t found;

	search_init(&s);
	if (knapsack_greedy(classes, n, budget, &s.tried))
		search_try(&s);
	root->high = s.capacity;
	root->bound = INFINITY;
	search_add(&s, root);
	while (s.n_heap > 0 && steps-- > 0)
		if (search_hopes(&s, s.heap[0]))
			search_divide(&s, heap_take(&s));
		else
			break;
	found = s.n_plans;
	*bound = s.n_heap > 0 && search_hopes(&s, s.heap[0]) ? s.heap[0]->bound : 0;
	search_fini(&s);
	return found;
}
