/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for the best plans with a probe (knapsack-probing.c): its nodes, the plans that it
 * keeps (knapsack-search.c), and bounds (knapsack-bound.c). */
#ifndef EVSPACE_KNAPSACK_SEARCH_H
#define EVSPACE_KNAPSACK_SEARCH_H

#include "consumers/perturb/knapsack.h"

/** Of a class in a node. */
enum choice { UNDECIDED, SAMPLED, TRACED };

/** Plans with something in common, of which none is tried yet. */
struct plan_node {
	double bound;		/* no plan of it tells more */
	double low, high;	/* range of the probe's frequency */
	double split;		/* where to divide the range; 0: elsewhere */
	size_t least, most;	/* classes that are traced */
	bool by_count;		/* it is divided by that: up to `count`, and more */
	size_t count, class;	/* class: which is divided by; n: it is one plan */
	unsigned char choice[]; /* enum choice, one a class */
};

/** What a node's decided classes sum up to, and all others. */
struct sums {
	double probes, value;	 /* of what is traced: probes that it takes the place of, V */
	double hits_low, hits;	 /* Z if all others are traced, and if none is */
	double undecided_probes; /* if all others are traced */
	size_t traced;
};

/** An undecided class in a node's knapsack. */
struct cut {
	double density, profit;
	size_t class;
};

/** The search; arrays have an item for each class. */
struct plan_search {
	const struct event_class *classes;
	size_t n;
	const struct plan_budget *budget;
	double capacity;	       /* the probe's frequency if nothing is traced */
	double *probes, *value, *hits; /* of each class */
	size_t *order, *last;	       /* the classes, cheapest first; as they were sorted last */
	struct cut *cuts;
	size_t knapsacks;	 /* so far */
	double climbed;		 /* the best plan that was improved last */
	struct plan_node **heap; /* the one with the highest bound first */
	size_t n_heap;
	struct probing_plan *plans, tried;
	size_t most, n_plans;
};

/** The plane value + by_probing p + by_hits Z + level over a node's range, and the price of each
 * class that is traced. */
struct plane {
	double by_probing, by_hits, level, price;
};

/** The solution of a node's continuous knapsack. */
struct relaxed {
	double bound, told;	     /* told: by the plane, without a price */
	double probing, hits, value; /* p, Z and V there */
	double traced;	 /* so many undecided ones, with the part of the one that is cut … */
	size_t n_traced; /* … of which the first cuts are traced whole */
	size_t class;	 /* which is cut; n: none */
	double density, price; /* of that one, or 0; and of each class */
};

/** Keep a node, which is above others with lower bounds; take the first one. */
void search_push(struct plan_search *search, struct plan_node *node);
struct plan_node *search_pop(struct plan_search *search);

/** What a plan must tell more than to be among the best. */
double search_least(const struct plan_search *search);

/** Keep the plan that is tried, if it is allowed, new, and among the best. */
void search_try(struct plan_search *search);

/** Make the plan that is tried better, if its probe may be, and the best one. */
void search_climb(struct plan_search *search);

/** Order of cuts: the densest first. */
int search_compare(const void *a, const void *b);

/** Sum up the node, and narrow its ranges to what its decisions leave. */
struct sums node_sums(const struct plan_search *search, struct plan_node *node);

/** The bound of the node by the plane, trying plans meanwhile; *@priced: with a price of classes.
 */
struct relaxed node_bound(struct plan_search *search, const struct plan_node *node,
			  const struct sums *sums, const struct plane *plane, bool *priced);

/** Decide the classes without, or with, which the bound would be too low. */
void node_fix(const struct plan_search *search, struct plan_node *node, const struct plane *plane,
	      const struct relaxed *bound);

#endif
