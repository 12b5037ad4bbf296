/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of evspace plan share: its settings, and how plans are shown. */
#ifndef EVSPACE_PLANNING_H
#define EVSPACE_PLANNING_H

#include <jansson.h>

#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "consumers/perturb/plan-live.h"
#include "pathmap/base/quantity.h"

struct planning {
	struct common common;
	double max_hz, budget, t_report, t_sampling, t_detect; /* 0: not said */
	bool reduce;
	unsigned most;
	bool apply, keep, print_table;
	uint64_t duration_ns;
	struct class_figures weights, minimums;
	struct plan_live *live; /* NULL: from a file */
	struct plan_table table;
	struct plan_budget limits;
};

/** Say @why. Returns @code. */
int plan_end(enum exit_code code, const char *why);

/** The names of classes that are traced, or that are not. The caller must free() it. */
char *plan_names(const struct planning *p, const bool *traced, bool which);

/** The same as JSON. */
json_t *plan_json_classes(const struct planning *p, const bool *traced, bool which);

/** Has any class of the table a weight above 0? Returns EXIT_FINE, or the exit code after a
 * message.
 */
int plan_weighs(const struct planning *p);

/** An amount as of the budget: Hz or a share. Returns @buf. */
const char *plan_amount(char buf[UNIT_TEXT], const struct planning *p, double amount);

/** Does tracing all classes keep the budget? */
bool plan_all_fit(const struct planning *p);

/** Print what all classes take, and those that are in no plan. @samples: the best plan does. */
void plan_notes(const struct planning *p, bool samples);

/** Names as a JSON array. */
json_t *plan_json_names(char *const *names, size_t n);

/**
 * Find the plan of the table by problem 1: @hz has how often each class is recorded. Of a running
 * program, where seeing the events that are not recorded takes too much, the classes for which it
 * takes most, and that have no minimum, are only counted (0 Hz). Returns false if no plan keeps the
 * budget; then @plan->used is what it would take at least.
 */
bool planning_reduce(const struct planning *p, double *hz, struct reduced_plan *plan);

/**
 * Find the plan of a running program's table by problem 2: @plan is from knapsack_plans_new().
 * Those classes are @counted without which the others tell most, of the dearest to see first: they
 * are neither traced nor sampled. Returns false if no plan keeps the budget.
 */
bool planning_probe(const struct planning *p, struct probing_plan *plan, bool *counted);

/** The same; what is counted is not in the table any more, but in its list. */
void planning_count(struct planning *p);

/** Find the plan of the table by problem 1, and print it. Returns the exit code. */
int plan_reduced(const struct planning *p);

/** Find plans of the table by problem 2, and print them. Returns the exit code. */
int plan_probing(const struct planning *p);

/** Do what the options say with a running program. Returns the exit code. */
int planning_live(struct planning *p);

#endif
