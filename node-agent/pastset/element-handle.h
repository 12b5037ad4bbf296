/* SPDX-License-Identifier: BSD-3-Clause */
/* An open element of a program, as its reader or writer has it. */
#ifndef EVSPACE_ELEMENT_HANDLE_H
#define EVSPACE_ELEMENT_HANDLE_H

#include <stdbool.h>

#include "node-agent/pastset/evspace-element.h"
#include "node-agent/pastset/pastset.h"
#include "node-agent/pastset/pastset-clock.h"

/** struct evspace_element is opaque in evspace-element.h. */
struct evspace_element {
	struct pastset file;
	/* its writer's; whoever reads has a limit of 0 */
	uint64_t head;	/* tuples ever written */
	uint64_t limit; /* up to here it may write without looking at readers */
	char *next;	/* slot of the next tuple; == end: the first */
	char *end;	/* after the last slot */
	uint32_t words; /* of a tuple, whole ones */
	uint32_t rest;	/* bytes behind them */
	/* its reader's */
	bool begun;	   /* evspace_element_next() was called */
	int part;	   /* that the writer waits for (pastset-claim.h); -1: it does not */
	uint64_t position; /* number of the tuple that it takes next */
	uint64_t lost;	   /* before that, not told yet */
	struct pastset_clock clock; /* of both */
};

/** Is it open for writing? */
static inline bool element_writes(const struct evspace_element *e)
{
	return e->limit > 0;
}

/** Give up a reader's part, and let the writer go on. */
void element_leave(struct evspace_element *e);

#endif
