/* SPDX-License-Identifier: BSD-3-Clause */
/* What one connection has asked for and waits for: so many of each kind at most, all forgotten at
 * its end. */
#ifndef EVSPACE_UNDERWAY_H
#define EVSPACE_UNDERWAY_H

#include <sys/queue.h>

#include "pathmap/base/error.h"

struct underway;
LIST_HEAD(underway_list, underway);

struct underway_kind {
	unsigned most;	  /* that one connection may have */
	const char *what; /* "questions ... are under way" */
	/* The connection ends: forget it, and leave the list. */
	void (*end)(struct underway *u);
};

/** One of them. Embed it as the first member; its owner puts it into the list and out of it. */
struct underway {
	LIST_ENTRY(underway) entry;
	const struct underway_kind *kind;
};

/** May there be one more of @kind? Returns 0, or -1 with EMFILE and @e. */
int underway_check(const struct underway_list *list, const struct underway_kind *kind,
		   struct error *e);

/** Forget all. */
void underway_end_all(struct underway_list *list);

#endif
