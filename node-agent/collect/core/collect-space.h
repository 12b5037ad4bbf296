/* SPDX-License-Identifier: BSD-3-Clause */
/* A segment of this process, its private data, the elements that its threads write, and what keeps
 * the program alive when the file is cut short, which is a SIGBUS for writers. */
#ifndef EVSPACE_COLLECT_SPACE_H
#define EVSPACE_COLLECT_SPACE_H

#include <stdbool.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/segment/segment.h"

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

/**
 * Catch SIGBUS for addresses in @s, the segment of this process: private memory replaces the file,
 * @notice is called, which ends collecting, an empty file beside it says so (store.c has the text),
 * and the program goes on. For all other addresses the signal does what it did before. The handler
 * is installed once in a process, for all of its segments, and costs nothing on the path.
 *
 * This works in all threads, and with handlers that the program installs before its segment is made
 * (in MPI_Init, or the first call of a PVM task) or that pass on faults which are not theirs. It
 * does not work with handlers that are installed later and pass on nothing, in threads that block
 * SIGBUS (the kernel ends a program whose fault is blocked), and for a file that is cut while it is
 * being made. sigaction(2) shows the program our handler.
 */
void collect_fault_catch(const struct segment *s, void (*notice)(void));

/** Has the file of the last segment that was passed been cut short? */
bool collect_fault_lost(void);

/** Call before that segment is unmapped. */
void collect_fault_forget(void);

/** Replace the segment's pages by private memory, since operations under way may still write
 * there. Safe in signal handlers. False: there is no memory. */
bool collect_fault_replace(const struct segment *s);

#endif
