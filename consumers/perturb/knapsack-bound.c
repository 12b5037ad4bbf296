/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounds of what a node's plans tell, by continuous knapsacks (knapsack-probing.c says which). */
#include <math.h>
#include <stdlib.h>

#include "consumers/perturb/knapsack-search.h"

/* Prices of a class that are tried in a node. */
#define PRICES_MOST 12u

/* Of so many rounded plans one is improved, and of the first ones more. */
#define CLIMB_EACH 256u

/* So many are sorted by insertion. */
#define INSERTED_MOST 256u

/* Of a number of classes, of which one is cut. */
#define COUNT_ROUNDING 1e-9

/* Narrow how many classes the node traces to what its range leaves: as many of the cheapest as fit,
 * and as few of the dearest as take enough. */
static void node_count(const struct plan_search *s, struct plan_node *node, const struct sums *sums)
{
	double slack = s->capacity * KNAPSACK_ROUNDING;
	double room = s->capacity - sums->probes - node->low + slack;
	double owed = s->capacity - sums->probes - node->high - slack;
	size_t fit = sums->traced, enough = sums->traced;

	for (size_t i = 0; i < s->n; i++) {
		const size_t cheap = s->order[i], dear = s->order[s->n - 1 - i];

		if (node->choice[cheap] == UNDECIDED && (room -= s->probes[cheap]) >= 0)
			fit++;
		if (node->choice[dear] == UNDECIDED && owed > 0) {
			owed -= s->probes[dear];
			enough++;
		}
	}
	node->most = node->most < fit ? node->most : fit;
	node->least = node->least > enough ? node->least : enough;
}

struct sums node_sums(const struct plan_search *s, struct plan_node *node)
{
	struct sums sums = {0};

	for (size_t i = 0; i < s->n; i++) {
		if (node->choice[i] == TRACED) {
			sums.probes += s->probes[i];
			sums.value += s->value[i];
			sums.traced++;
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
	node_count(s, node, &sums);
	return sums;
}

/* Sort the cuts, which are nearly in order: they are in that of the last time. */
static void cuts_sort(struct plan_search *s, size_t n)
{
	if (n > INSERTED_MOST)
		qsort(s->cuts, n, sizeof(*s->cuts), search_compare);
	for (size_t i = 1; i < n && n <= INSERTED_MOST; i++) {
		const struct cut cut = s->cuts[i];
		size_t at = i;

		for (; at > 0 && search_compare(&s->cuts[at - 1], &cut) > 0; at--)
			s->cuts[at] = s->cuts[at - 1];
		s->cuts[at] = cut;
	}
}

/* What tracing the class is worth. */
static double plane_profit(const struct plan_search *s, const struct plane *plane, size_t class,
			   double price)
{
	return s->value[class] - plane->by_hits * s->hits[class] -
	       plane->by_probing * s->probes[class] - price;
}

static struct relaxed node_relaxed(struct plan_search *s, const struct plan_node *node,
				   const struct sums *sums, const struct plane *plane)
{
	struct relaxed r = {.probing = s->capacity - sums->probes,
			    .hits = sums->hits,
			    .value = sums->value,
			    .class = s->n,
			    .price = plane->price};
	size_t n = 0;

	s->knapsacks++;
	for (size_t k = 0; k < s->n; k++) {
		const size_t i = s->last[k];
		double profit;

		if (node->choice[i] != UNDECIDED)
			continue;
		profit = plane_profit(s, plane, i, plane->price);
		s->cuts[n++] = (struct cut){profit / s->probes[i], profit, i};
	}
	cuts_sort(s, n);
	/* where undecided ones were they are again, in this order */
	for (size_t k = 0, to = 0; to < n; k++)
		if (node->choice[s->last[k]] == UNDECIDED)
			s->last[k] = s->cuts[to++].class;
	r.bound = r.value + plane->by_probing * r.probing + plane->by_hits * r.hits + plane->level;
	for (size_t i = 0; i < n; i++) {
		const struct cut *c = &s->cuts[i];
		double to = c->profit > 0 ? node->low : node->high, share;

		/* which is wanted, and has no room, or has to be there */
		if (c->profit > 0 || r.probing > to)
			r.density = c->density;
		if (r.probing <= to)
			break;
		share = fmin(1, (r.probing - to) / s->probes[c->class]);
		r.bound += share * c->profit;
		r.probing -= share * s->probes[c->class];
		r.hits -= share * s->hits[c->class];
		r.value += share * s->value[c->class];
		r.traced += share;
		if (share < 1) {
			r.class = c->class;
			break;
		}
		r.n_traced++;
		r.density = fmin(c->density, 0);
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
	if ((s->knapsacks & (s->knapsacks - 1)) == 0 || s->knapsacks % CLIMB_EACH == 0)
		search_climb(s);
}

/* A knapsack with a price of each class: what it is worth if so many are to be traced. */
static struct relaxed node_priced(struct plan_search *s, const struct plan_node *node,
				  const struct sums *sums, const struct plane *plane, double price,
				  double traced)
{
	struct plane its = *plane;
	struct relaxed r;

	its.price = price;
	r = node_relaxed(s, node, sums, &its);
	r.told = r.bound + price * r.traced;
	r.bound += price * traced;
	node_round(s, node, &r);
	return r;
}

/* A price that is so high, or so far below 0, that it alone decides. */
static double price_most(const struct plan_search *s, const struct plane *plane)
{
	double most = 0;

	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, fabs(plane_profit(s, plane, i, 0)));
	return 2 * most;
}

/* The best bound of the plane: if too many classes are traced, or too few, that of the price at
 * which so many are as may be. The bound is convex in the price: where two tangents meet is the
 * next one to try. */
struct relaxed node_bound(struct plan_search *s, const struct plan_node *node,
			  const struct sums *sums, const struct plane *plane, bool *priced)
{
	const double least = (double)(node->least - sums->traced);
	const double most = (double)(node->most - sums->traced);
	struct relaxed from = node_priced(s, node, sums, plane, 0, 0), best = from, to, r;
	double traced = from.traced > most ? most : least, at, end, price = 0;

	*priced = from.traced > most + COUNT_ROUNDING || from.traced < least - COUNT_ROUNDING;
	if (!*priced || from.bound <= search_least(s))
		return from;
	end = price_most(s, plane) * (from.traced > most ? 1 : -1);
	r = to = node_priced(s, node, sums, plane, end, traced);
	for (unsigned i = 0; i < PRICES_MOST; i++) {
		double slope = traced - from.traced, other = traced - to.traced;

		if (r.bound < best.bound)
			best = r;
		if (best.bound <= search_least(s) || (slope < 0) == (other < 0))
			break;
		at = (from.bound - to.bound + other * end - slope * price) / (other - slope);
		if (from.bound + slope * (at - price) >= best.bound * (1 - KNAPSACK_ROUNDING))
			break;
		r = node_priced(s, node, sums, plane, at, traced);
		if ((traced - r.traced < 0) == (slope < 0)) {
			from = r;
			price = at;
		} else {
			to = r;
			end = at;
		}
	}
	return r.bound < best.bound ? r : best;
}

/* Decide the classes without, or with, which the knapsack of the bound would be too low: each is
 * worth what it tells beyond the one that is cut. */
void node_fix(const struct plan_search *s, struct plan_node *node, const struct plane *plane,
	      const struct relaxed *r)
{
	double least = search_least(s);

	least += fabs(least) * KNAPSACK_ROUNDING;
	for (size_t i = 0; i < s->n; i++) {
		double worth;

		if (node->choice[i] != UNDECIDED)
			continue;
		worth = plane_profit(s, plane, i, r->price) - r->density * s->probes[i];
		if (r->bound - fabs(worth) <= least)
			node->choice[i] = worth > 0 ? TRACED : SAMPLED;
	}
}
