/* SPDX-License-Identifier: BSD-3-Clause */
/* What to trace and what to sample under a budget: knapsacks of event classes (Metz, Lencevicius,
 * Gonzalez: Performance Data Collection Using a Hybrid Approach, section 4). Pure: arrays in,
 * numbers out. */
#ifndef EVSPACE_KNAPSACK_H
#define EVSPACE_KNAPSACK_H

#include <stdbool.h>
#include <stddef.h>

/** A class of events; all numbers are finite. */
struct event_class {
	double frequency; /* F: events a second, above 0 */
	double weight;	  /* W: what an event of it tells, 0 or more */
	double duty;	  /* event time by period, 0 to 1: the chance that a probe hits one */
	double t_trace;	  /* seconds to report one of its events, above 0 */
	double minimum;	  /* Hz that it is to be seen with at least, 0 or more (4.3.5) */
	double t_detect;  /* seconds to see one that is not reported (4.3.4) */
	/* seconds of a probe that hits one (4.3.3); 0: as of others. There is one probe, for all:
	 * see plan_table_sampling() */
	double t_sampling;
};

/** What collecting may take. If only the number of reports a second is limited (the paper's MaxF),
 * all times are 1. */
struct plan_budget {
	double share;	   /* seconds of each second: the overhead less 1 */
	double t_sampling; /* seconds that one probe takes, above 0 */
};

/** What problem 1 has found, with the reduced frequencies in an array of the caller's. */
struct reduced_plan {
	double information; /* sum of reduced frequency times weight */
	double used;	    /* seconds of each second */
};

/**
 * Problem 1, a continuous knapsack: the frequency to reduce each class to, which reports some of
 * the events that it detects. Optimal, in expected linear time by selection, with minimum
 * frequencies and the cost of detecting all. @frequency has room for @n.
 * Returns 0, or -1 if detecting and the minimums alone are above the budget; @plan->used is then
 * what they take.
 */
int knapsack_reduced(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		     double *frequency, struct reduced_plan *plan);

/** Most halvings of what is recorded of a class. */
#define KNAPSACK_HALVINGS 16

/** How often to halve what is recorded of @c so that no more than @hz remain; -1: nothing is to be
 * recorded. */
int knapsack_halvings(const struct event_class *c, double hz);

/** The least frequency to record @c with that halving gives, and its minimum allows; 0: it has
 * none. */
double knapsack_part_least(const struct event_class *c);

/** Seconds that reporting one of @c takes beside seeing it, for problem 2; always above 0. */
double knapsack_extra(const struct event_class *c);

/** A solution of problem 2: each class is traced, or left to the one probe of all others. */
struct probing_plan {
	bool *traced;	    /* one a class */
	double probing_hz;  /* F_probing: what tracing leaves of the budget */
	double information; /* traced F W, and F_probing times duty times W of the others */
};

/** Room for @most plans of @n classes, for knapsack_plans_free(). */
struct probing_plan *knapsack_plans_new(size_t most, size_t n);

/** Free them; NULL is fine. */
void knapsack_plans_free(struct probing_plan *plans);

/** The share by which sums may be off from rounding. */
#define KNAPSACK_ROUNDING 1e-12

/** The probe's frequency when tracing takes @used seconds of each second; below 0: more than the
 * budget. */
double knapsack_left(const struct plan_budget *budget, double used);

/** The plan that traces @plan->traced: fills in the others. What it does not trace is detected
 * nevertheless. Returns whether it keeps the budget, and the minimum of each class that is not
 * traced. */
bool knapsack_value(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		    struct probing_plan *plan);

/** Make the plan of @plan->traced, whose probe has a frequency of 0 or more, tell more: by tracing
 * a class more or less, or one instead of another, until none of these does. Then fill in the
 * others; minimums it does not mind. Takes @n squared for each of its steps. */
void knapsack_improve(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		      struct probing_plan *plan);

/**
 * Problem 2, which is NP-hard: the best @most plans, best first, by branch and bound over the
 * classes, over how many of them are traced and over the probe's frequency. If that takes too many
 * steps it ends with what it has, and no plan that it has not found tells more than *@bound; those
 * that tell as much are the best ones. Deterministic. @plans are from knapsack_plans_new(). Returns
 * how many it has found, all of them different; 0: none keeps budget and minimums.
 */
size_t knapsack_probing(const struct event_class *classes, size_t n,
			const struct plan_budget *budget, struct probing_plan *plans, size_t most,
			double *bound);

/**
 * The paper's approximation in n log n, which tells at least half of what the best plan does, if
 * reports of all kinds cost the same and no class has a minimum. Equal weights: in the order of
 * @classes. Returns whether a plan keeps budget and minimums.
 */
bool knapsack_greedy(const struct event_class *classes, size_t n, const struct plan_budget *budget,
		     struct probing_plan *plan);

#endif
