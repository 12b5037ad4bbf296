/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats: one for the answer of each host of a part of a tree, so that a child speaks once for each
 * host below it, and for nobody else. */
#ifndef EVSPACE_SEATS_H
#define EVSPACE_SEATS_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/plan/plan.h"

struct child_user;

/** The answer of a host, owned by the seats' owner; NULL: none yet. */
struct seat {
	const struct plan_place *place;
	void *said;
};

/** Plain data. */
struct seats {
	struct seat *list; /* sorted by the nodes' names */
	size_t n;
};

/** Make seats for @place, which is borrowed, and all below it; @leaves: for leaves only.
 * seats_fini() frees them, but not the answers. */
void seats_init(struct seats *seats, const struct plan_place *place, bool leaves);
void seats_fini(struct seats *seats);

/** The seat of @node if it has no answer yet; NULL: it has one, or no seat here. */
struct seat *seats_vacant(const struct seats *seats, const char *node);

/** Log that the child has given @n answers that it may not give, unless that is 0. */
void seats_refuse(struct child_user *user, size_t n);

/** Reasons for hosts without an answer: their parent gives none; it could not be asked. */
#define SEAT_UNSAID "the agent above it does not report it"
#define SEAT_UNSENT "its part of the tree does not fit into a frame"

#endif
