/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of a store: sums over their segments, and the default run. */
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
	unsigned mirrors, mirrors_alive; /* elements fetched from other nodes */
	unsigned elements;		 /* of programs (evspace-element.h) */
	unsigned made;			 /* of these by agents, as a map says */
	int32_t world_size;
	uint64_t bytes;		     /* of memory */
	uint64_t events, overflowed; /* tuples written; those without room in any element */
	int64_t born_real_ns;
	uint64_t idle_ns; /* since the last process ended, 0 while one lives */
};

/** Sum up the runs, oldest first, the monitors' last; runs with refusals or elements of programs
 * only have 0 processes, and no birth.
 * Returns how many there are; the caller must free() *runs. */
size_t store_runs(const struct store *store, struct store_run **runs);

/** Sort them in that order. */
void store_runs_sort(struct store_run *runs, size_t n);

/** The same, of only those segments for which @holds(@arg, segment) is true. */
size_t store_runs_held(const struct store *store,
		       bool (*holds)(const void *arg, const struct store_segment *s),
		       const void *arg, struct store_run **runs);

/** The default run: the newest live one, else the newest one unless @living, "" when there is
 * none. Whether runs of mirrors live is not known. Valid until the next store_refresh(). */
const char *store_run_newest(const struct store *store, bool living);

#endif
