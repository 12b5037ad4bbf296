/* SPDX-License-Identifier: BSD-3-Clause */
/* A segment of this process, with what is kept beside it, and the elements that its threads write.
 */
#ifndef EVSPACE_COLLECT_SPACE_H
#define EVSPACE_COLLECT_SPACE_H

#include "node-agent/collect/core/collect.h"

/**
 * It stays when the process has let go of the segment: other threads may be inside an operation
 * that they have entered before.
 */
struct collect_space {
	struct segment segment; /* first: a thread finds its space by it */
	struct keyed *keyed;
	uint64_t keyed_n; /* a power of two */
	/* Entries of threads that have ended, a bit each: taken again when the reserve is used up.
	 */
	_Atomic uint64_t free_entries;
};

/** The one that @segment is in. */
static inline struct collect_space *collect_space_of(struct segment *segment)
{
	return (struct collect_space *)(void *)segment;
}

/** All zero. NULL: there is no memory. */
struct collect_space *collect_space_new(void);
void collect_space_free(struct collect_space *space);

/** Make room for the writers of channels that are split, by the segment's layout. */
void collect_space_split(struct collect_space *space);

/** Give the memory of those writers back; they have no room from now on. Other threads may just be
 * looking there. */
void collect_space_forget(struct collect_space *space);

/** Write @t to this thread's element of @channel. False: there is no room. */
bool collect_space_write(const struct tuple *t, unsigned channel);

#endif
