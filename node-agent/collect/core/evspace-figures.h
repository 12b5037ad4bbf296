/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program is told about itself while somebody looks at it; part of evspace.h.
 *
 *	struct evspace_budget told;
 *
 *	if (evspace_budget(&told) && told.high > told.budget)
 *		... exchange less often
 *
 * So a program that adapts, or a predictor in it, is a consumer like others. Neither call waits or
 * makes a system call, and what is copied is whole. Both may be called from any thread. They give 0
 * and change nothing if there is no collector, before MPI_Init, or if nobody has said anything: a
 * load and a branch then.
 */
#ifndef EVSPACE_FIGURES_H
#define EVSPACE_FIGURES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVSPACE_MODES	   16 /* most classes that are told */
#define EVSPACE_OPERATIONS 16 /* most operations */
#define EVSPACE_NAME	   32 /* bytes of a name, with the 0 at its end */

/** What is recorded of a class of operations. */
struct evspace_class_mode {
	char name[EVSPACE_NAME]; /* "p2p" */
	/* "trace", "count", "time", "sample", "off", "1/8"; or "trial": recorded by turns, as long
	 * as an experiment finds out what that costs */
	char mode[EVSPACE_NAME];
};

/** What whoever keeps a budget (any consumer with --budget, `evspace plan --apply`) says of this
 * run. Shares are of the program's time: 0.01 is 1 %. NAN: not known. */
struct evspace_budget {
	double age_s;		    /* since it was said */
	double budget;		    /* what looking and collecting may cost */
	double slowdown, low, high; /* what they cost: estimate, and its interval; or all NAN */
	double rate_hz;		    /* how often the program is looked at */
	int n_modes;
	struct evspace_class_mode modes[EVSPACE_MODES]; /* here and now, on MPI_COMM_WORLD */
};

/** What a wave has read of an operation of this process. */
struct evspace_operation {
	char name[EVSPACE_NAME]; /* "MPI_Allreduce" */
	uint64_t count, bytes;
	double mean_s, most_s; /* of the time in it */
};

/** The newest wave of a view. */
struct evspace_figures {
	double age_s;  /* since it was read */
	double over_s; /* since the one before: what it is about. NAN: not known */
	uint64_t wave; /* its number: another one is another wave */
	int n;
	struct evspace_operation operations[EVSPACE_OPERATIONS];
};

/** The collector's functions for these, exported as evspace_told_1; NULL before MPI_Init. */
struct evspace_told {
	int (*budget)(struct evspace_budget *budget);
	int (*latest)(const char *view, size_t length, struct evspace_figures *figures);
};

__attribute__((weak, visibility("hidden"))) const struct evspace_told *evspace_told_found;
__attribute__((weak, visibility("hidden"))) struct evspace_told evspace_told_absent = {NULL, NULL};

static inline const struct evspace_told *evspace_told_calls(void)
{
	const struct evspace_told *told = __atomic_load_n(&evspace_told_found, __ATOMIC_ACQUIRE);

	if (__builtin_expect(told == NULL, 0)) {
		told = (const struct evspace_told *)evspace_symbol_find("evspace_told_1");
		told = told ? told : &evspace_told_absent;
		__atomic_store_n(&evspace_told_found, told, __ATOMIC_RELEASE);
	}
	return told;
}

/** Get the budget in force, what is measured against it, and what is recorded. Returns 1, or 0:
 * nobody keeps one. */
static inline int evspace_budget(struct evspace_budget *budget)
{
	int (*call)(struct evspace_budget *) =
		__atomic_load_n(&evspace_told_calls()->budget, __ATOMIC_ACQUIRE);

	return __builtin_expect(call != NULL, 0) ? call(budget) : 0;
}

/**
 * Get the newest wave of @view (NULL: of any), as this host's agent has read it of this process:
 * totals by operation, over the events since the wave before. That is so for views of events, which
 * read `stream`, while somebody looks at them who may also control this run (docs/rights.md); not
 * those of samples. From the first call on, agents keep these totals for this process. Returns 1,
 * or 0: there is none.
 */
static inline int evspace_view_latest(const char *view, struct evspace_figures *figures)
{
	int (*call)(const char *, size_t, struct evspace_figures *) =
		__atomic_load_n(&evspace_told_calls()->latest, __ATOMIC_ACQUIRE);

	return __builtin_expect(call != NULL, 0) ? call(view, view ? strlen(view) : 0, figures) : 0;
}

#ifdef __cplusplus
}
#endif

#endif
