/* SPDX-License-Identifier: BSD-3-Clause */
/* Event classes of a running program, measured, and switched as a plan says. */
#ifndef EVSPACE_PLAN_LIVE_H
#define EVSPACE_PLAN_LIVE_H

#include "consumers/cli/options.h"
#include "consumers/perturb/plan-table.h"

/** Most classes that something can be said of. */
#define CLASS_FIGURES_MAX 64u

/** What is said of a class: the weight of its events, or its minimum frequency. */
struct class_figure {
	char *name; /* "p2p@world", or "p2p" for all other communicators */
	double number;
};

struct class_figures {
	struct class_figure of[CLASS_FIGURES_MAX];
	size_t n;
};

/** Free what they own. */
void class_figures_fini(struct class_figures *figures);

struct plan_live;

/** Connect, and find how many processes there are, and what an event and a probe cost them. @code
 * is EXIT_FINE, or the exit code after a message. Free it with plan_live_free() in any case. */
struct plan_live *plan_live_new(const struct common *common, const struct class_figures *weights,
				const struct class_figures *minimums, int *code);
void plan_live_free(struct plan_live *live);

/** Seconds that one event, on average over all classes, and one probe, cost each process. */
double plan_live_t_report(const struct plan_live *live);
double plan_live_t_sampling(const struct plan_live *live);

/** The same of a probe that hits no class. */
double plan_live_t_vain(const struct plan_live *live);

/**
 * Measure for @ns, or until *@stop. @table gets the classes that had calls: events a second of a
 * process, on average, the share of its time in them, what an event costs (of a channel that has
 * too few timed ones, t_report), what it costs to see one that is not recorded, and to look when
 * one is hit (0: too few were timed yet). What was measured before counts half, where it was. A
 * lease that this holds goes on. Hosts that do not answer are left out, and named once; theirs ends
 * by itself, and when they answer again their classes have strayed.
 * Returns EXIT_FINE, or the exit code after a message.
 */
int plan_live_measure(struct plan_live *live, uint64_t ns, const volatile int *stop,
		      struct plan_table *table);

/** Is a class of @table one that has not been switched by plan_live_switch()? */
bool plan_live_is_fresh(const struct plan_live *live, const struct plan_table *table);

/** Is a class somewhere not as it was switched? The lease was over before it was renewed, or a
 * process has come. */
bool plan_live_has_strayed(const struct plan_live *live);

/** Say so if no probe can look @hz times a second, and what it does instead. */
void plan_live_may(const struct plan_live *live, double hz);

/** The modes of the classes of @table as they were switched last; EVSPACE_AS_IT_IS: it was not. */
void plan_live_modes(const struct plan_live *live, const struct plan_table *table,
		     enum evspace_mode *modes);

/** Switch the classes of @table to @modes in one command; look @probing_hz times a second, and hold
 * all modes for @lease_ms, which each measuring begins again. Returns as above. */
int plan_live_switch(struct plan_live *live, const struct plan_table *table,
		     const enum evspace_mode *modes, double probing_hz, unsigned lease_ms);

/** How often a second is looked, as far as is known; look @hz times from now on. Returns as above.
 */
double plan_live_rate(const struct plan_live *live);
int plan_live_probe(struct plan_live *live, double hz);

/** What collecting and looking have cost between the last two measurements, as they were measured;
 * NULL: not known. */
const struct evspace_spent *plan_live_spent(const struct plan_live *live);

/** Tell the program, for evspace_budget(): the @budget, what is spent of it, and how often is
 * probed. It holds for as long as the lease. */
void plan_live_tell(struct plan_live *live, double budget);

/** End the lease: modes are as before, or stay if @keep. Returns as above. */
int plan_live_end(struct plan_live *live, bool keep);

#endif
