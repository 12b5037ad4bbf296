/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of event classes, as `evspace plan` reads them (docs/plans.md). */
#ifndef EVSPACE_PLAN_TABLE_H
#define EVSPACE_PLAN_TABLE_H

#include <stdio.h>

#include "consumers/perturb/knapsack.h"
#include "pathmap/base/error.h"

/** Most classes of a table, and bytes of one line. */
#define PLAN_CLASSES_MAX 1000000u
#define PLAN_LINE_MAX	 4096u

/** The classes of a table: those to plan for, and those that need no place in a plan. */
struct plan_table {
	struct event_class *classes;
	char **names; /* one a class */
	size_t n;
	char **deduced; /* names of classes that another one tells (4.3.1) */
	size_t n_deduced;
	char **counted; /* of a running program: which are too dear to be seen; NULL: none */
	size_t n_counted;
	bool said_times; /* it has times of its own */
};

/**
 * Read a table: lines of words between blanks, the first one names the columns; `#` and what
 * follows it is no part of it. Columns, in any order: class, frequency, weight, duty; and if they
 * are there t_trace and t_detect (else @t_trace and @t_detect, in seconds), t_sampling, minimum,
 * interrupted
 * (4.3.2: how often an event is interrupted, each time making one more to trace), deduced_from
 * (4.3.1: `-`, or the class that tells all of this one). Returns 0, or -1 with @e, which begins
 * with "@name:LINE: ". The table is for plan_table_fini() in both cases.
 */
int plan_table_read(struct plan_table *table, FILE *in, const char *name, double t_trace,
		    double t_detect, struct error *e);

/** Free what the table owns. */
void plan_table_fini(struct plan_table *table);

/** Seconds that a probe takes on average, if one that hits no class with a time of its own takes
 * @others: classes are hit as often as their duties say. */
double plan_table_sampling(const struct plan_table *table, double others);

/** Read a number of @what that is finite and from @least to @most. Returns 0, or -1 with @e. */
int plan_number(const char *text, const char *what, double least, double most, double *number,
		struct error *e);

/** Read a time in seconds, as "2e-5" or as "20us". Returns 0, or -1 with @e. */
int plan_seconds(const char *text, const char *what, double *seconds, struct error *e);

#endif
