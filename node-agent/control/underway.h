/* SPDX-License-Identifier: BSD-3-Clause */
/* The unanswered requests of one connection: bounded for each kind, and dropped at its end. */
#ifndef EVSPACE_UNDERWAY_H
#define EVSPACE_UNDERWAY_H

#include <sys/queue.h>

#include "pathmap/base/error.h"

struct underway;
LIST_HEAD(underway_list, underway);

struct underway_kind {
	unsigned most;	  /* of one connection */
	const char *what; /* "questions ... are under way" */
	/* The connection has ended: drop the request, and remove it from the list. */
	void (*end)(struct underway *u);
};

/** A request. Embed it as the first member; the owner inserts and removes it. */
struct underway {
	LIST_ENTRY(underway) entry;
	const struct underway_kind *kind;
};

/** May there be another request of @kind? Returns 0, or -1 with EMFILE and @e. */
int underway_check(const struct underway_list *list, const struct underway_kind *kind,
		   struct error *e);

/** Drop all requests. */
void underway_end_all(struct underway_list *list);

#endif
