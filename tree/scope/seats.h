/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats: one for what is said of each host of a part of a tree. So a child speaks for those that
 * are below it, once for each, and for nobody else. */
#ifndef EVSPACE_SEATS_H
#define EVSPACE_SEATS_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/plan/plan.h"

struct child_user;

/** What was said of a host: the owner's, NULL as long as it is nothing. */
struct seat {
	const struct plan_place *place;
	void *said;
};

/** Plain data. */
struct seats {
	struct seat *list; /* by the nodes' names */
	size_t n;
};

/** For @place, which stays the caller's, and all below it; @leaves: for the leaves alone.
 * seats_fini() frees them, not what was said. */
void seats_init(struct seats *seats, const struct plan_place *place, bool leaves);
void seats_fini(struct seats *seats);

/** The seat of @node if nothing was said of it yet; NULL: it has been, or has none here. */
struct seat *seats_vacant(const struct seats *seats, const char *node);

/** Say that the child has spoken @n times for whom it may not, unless that is 0. */
void seats_refuse(struct child_user *user, size_t n);

/** Texts for those of which nothing is said: their parent did not; it could not be asked. */
#define SEAT_UNSAID "the agent above it says nothing of it"
#define SEAT_UNSENT "its part of the tree is more than fits into a frame"

#endif
