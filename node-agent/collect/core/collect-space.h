/* SPDX-License-Identifier: BSD-3-Clause */
/* A segment of this process, its private data, and the elements that its threads write. */
#ifndef EVSPACE_COLLECT_SPACE_H
#define EVSPACE_COLLECT_SPACE_H

#include "node-agent/collect/core/collect.h"

/** It stays when the process has dropped the segment: other threads may still be inside an
 * operation. */
struct collect_space {
	struct segment segment; /* first: a thread finds its space by it */
	struct keyed *keyed;
	uint64_t keyed_n; /* a power of two */
	/* Entries of ended threads, one bit each: reused when the reserve is used up. */
	_Atomic uint64_t free_entries;
};

/** The space that @segment is part of. */
static inline struct collect_space *collect_space_of(struct segment *segment)
{
	return (struct collect_space *)(void *)segment;
}

/** All zero. NULL: there is no memory. */
struct collect_space *collect_space_new(void);
void collect_space_free(struct collect_space *space);

/** Allocate the writers of split channels, by the segment's layout. */
void collect_space_split(struct collect_space *space);

/** Free the memory of those writers; from now on there is no room for them. Other threads may be
 * reading them. */
void collect_space_forget(struct collect_space *space);

/** Write @t to this thread's element of @channel. False: there is no room. */
bool collect_space_write(const struct tuple *t, unsigned channel);

#endif
