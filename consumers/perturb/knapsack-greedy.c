/* SPDX-License-Identifier: BSD-3-Clause */
/* The paper's approximation of problem 2: trace the heaviest classes that fit, or one alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/perturb/knapsack.h"
#include "pathmap/base/memory.h"

/* A class in the order of its weight. */
struct ranked {
	double weight;
	size_t class;
	double least_after; /* the highest minimum of it and those after it */
};

/* A plan that changes by one class at a time, and the best one so far. */
struct greedy {
	const struct event_class *classes;
	const struct plan_budget *budget;
	double used, traced, hits;
	double best; /* below 0: none yet */
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return (x->class > y->class) - (x->class < y->class);
}

/* The classes by weight, with an end that has none after it. */
static struct ranked *ranked_new(const struct event_class *classes, size_t n)
{
	struct ranked *order = memory_new(n + 1, sizeof(*order));

	for (size_t i = 0; i < n; i++)
		order[i] = (struct ranked){.weight = classes[i].weight, .class = i};
	qsort(order, n, sizeof(*order), compare_ranked);
	for (size_t i = n; i-- > 0;) {
		double own = classes[order[i].class].minimum, after = order[i + 1].least_after;

		order[i].least_after = own > after ? own : after;
	}
	return order;
}

/* Trace the class from now on, or no more. */
static void greedy_trace(struct greedy *g, const struct event_class *c, int sign)
{
	g->used += sign * c->frequency * knapsack_extra(c);
	g->traced += sign * c->frequency * c->weight;
	g->hits -= sign * c->duty * c->weight;
}

/* Is the plan, whose probe is to have @least Hz, better than the best one so far? */
static bool greedy_better(struct greedy *g, double least)
{
	double probing = knapsack_left(g->budget, g->used);
	double information = g->traced + probing * g->hits;

	if (probing < least || information <= g->best)
		return false;
	g->best = information;
	return true;
}

/* The class at @i in @order is traced, too, and stays so if @stays and there is room. Notes the
 * plan in *@best as 1 + @i if it is the best one so far; *@before is the highest minimum of those
 * before that are not traced. Returns whether it stays. */
static bool greedy_try(struct greedy *g, const struct ranked *order, size_t i, bool stays,
		       double *before, size_t *best)
{
	const struct event_class *c = &g->classes[order[i].class];

	greedy_trace(g, c, 1);
	if (greedy_better(g, fmax(*before, order[i + 1].least_after)))
		*best = i + 1;
	if (stays && knapsack_left(g->budget, g->used) >= 0)
		return true;
	greedy_trace(g, c, -1);
	*before = fmax(*before, c->minimum);
	return false;
}

/* The plans that trace one class alone, S(i,0). Returns 1 + the best one's index in @order, or 0.
 */
static size_t greedy_one(struct greedy *g, const struct ranked *order, size_t n)
{
	size_t best = 0;
	double before = 0;

	for (size_t i = 0; i < n; i++)
		greedy_try(g, order, i, false, &before, &best);
	return best;
}

/* The plans that trace the heaviest that fit, S(0,j); @traced are those of the last one. Returns
 * the number of classes that were looked at by the best one, or 0. */
static size_t greedy_many(struct greedy *g, const struct ranked *order, size_t n, bool *traced)
{
	size_t best = 0;
	double before = 0;

	for (size_t i = 0; i < n; i++)
		traced[order[i].class] = greedy_try(g, order, i, true, &before, &best);
	return best;
}

bool knapsack_greedy(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		     struct probing_plan *plan)
{
	struct ranked *order = ranked_new(classes, n);
	struct greedy g = {.classes = classes, .budget = budget, .best = -1};
	size_t one, many;

	memset(plan->traced, 0, n * sizeof(*plan->traced));
	for (size_t i = 0; i < n; i++) {
		g.hits += classes[i].duty * classes[i].weight;
		g.used += classes[i].frequency * classes[i].t_detect;
	}
	greedy_better(&g, order[0].least_after);
	one = greedy_one(&g, order, n);
	many = greedy_many(&g, order, n, plan->traced);
	for (size_t i = many; i < n; i++)
		plan->traced[order[i].class] = false;
	if (many == 0 && one > 0)
		plan->traced[order[one - 1].class] = true;
	free(order);
	return knapsack_value(classes, n, budget, plan) && g.best >= 0;
}
