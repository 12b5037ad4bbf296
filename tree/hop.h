/* SPDX-License-Identifier: BSD-3-Clause */
/* A hop: one scope's way to one child place, from asking over the wire to the answer's batch. */
#ifndef EVSPACE_HOP_H
#define EVSPACE_HOP_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/plan.h"
#include "tree/child.h"
#include "tree/gather.h"
#include "tree/names.h"

struct hop;

/** What all hops of a scope share; the scope owns it and all that it points to. */
struct hop_scope {
	struct child_set *children;
	struct gather *gather;
	struct names *names;
	const Evspace__Open *open; /* id, run, view, backlog, reading, select of the scope */
	int64_t epoch_ns;	   /* event-space time at this host's CLOCK_MONOTONIC 0 */
	/* Called once per hop, when its child has opened the scope, refused, or cannot be reached.
	 */
	void (*settled)(void *arg);
	void *arg;
};

/** A hop to @place, the gather's input number @input. It opens the scope there whenever the child
 * is up. */
struct hop *hop_new(const struct hop_scope *scope, const struct plan_place *place, size_t input);

/** Close the scope at the child (@keep: its cursors stay) and free. NULL is fine. */
void hop_free(struct hop *hop, bool keep);

/**
 * Pass an ask on, with a deadline that leaves time for the way back. @only (of @n_only place
 * indexes) restricts it to some leaves when n_only > 0. Returns 1 when it was sent, 0 when the
 * child is not there or holds none of those leaves.
 */
int hop_ask(struct hop *hop, const Evspace__Ask *ask);

/** Does the hop lead to one of these leaves (all, if @n is 0)? */
bool hop_leads_to(const struct hop *hop, const uint32_t *leaves, size_t n);

/** Note all leaves behind the hop as missing in @w; @late: it was asked and did not answer in time.
 */
void hop_miss(struct hop *hop, struct wave *w, bool late);

#endif
