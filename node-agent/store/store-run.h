/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of a store: what its segments add up to, and which is meant where none is named. */
#ifndef EVSPACE_STORE_RUN_H
#define EVSPACE_STORE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/store/store.h"

/** One run, summed over its segments. */
struct store_run {
	char name[64];
	char program[128];
	unsigned processes, alive, finished;
	unsigned mirrors, mirrors_alive; /* elements of processes on other nodes, fetched */
	int32_t world_size;
	uint64_t bytes;		     /* of memory */
	uint64_t events, overflowed; /* tuples written; those that no element had room for */
	int64_t born_real_ns;
	uint64_t idle_ns; /* since the last process ended, 0 while one lives */
};

/**
 * Sum up the runs, oldest first, the monitors' last, those of which there are only refusals
 * included (0 processes). Returns how many there are; *runs is the caller's to free().
 */
size_t store_runs(const struct store *store, struct store_run **runs);

/** Put them into that order. */
void store_runs_sort(struct store_run *runs, size_t n);

/** The same of those segments alone that @holds(@arg, segment) is true of. */
size_t store_runs_held(const struct store *store,
		       bool (*holds)(const void *arg, const struct store_segment *s),
		       const void *arg, struct store_run **runs);

/** The newest live run, else the newest one unless @living, "" when there is none: what is meant
 * where none is named. Of mirrors it is not known which live. Valid until the next store_refresh().
 */
const char *store_run_newest(const struct store *store, bool living);

#endif
