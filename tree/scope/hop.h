/* SPDX-License-Identifier: BSD-3-Clause */
/* A hop: one scope's way to one child place, from the ask on the wire to the answer's batch. */
#ifndef EVSPACE_HOP_H
#define EVSPACE_HOP_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/plan/plan.h"
#include "tree/scope/child.h"
#include "tree/scope/gather.h"
#include "tree/scope/opening.h"
#include "tree/data/names.h"

struct event_base;
struct hop;
struct span;

/** What a hop tells its owner, which must not free it from within these. */
struct hop_events {
	/* The child has opened the scope, refused, or cannot be reached; called once. */
	void (*settled)(void *arg, struct hop *hop);
	/* hop_reachable() or hop_ready() may have changed. */
	void (*changed)(void *arg, struct hop *hop);
};

/** Shared by all hops of a scope, which owns it and all that it points to. */
struct hop_scope {
	struct event_base *base;
	struct child_set *children;
	struct gather *gather;
	struct names *names;
	uint32_t place;			 /* index of the scope's own place */
	struct span *span;		 /* records asks; NULL: nothing does */
	const Evspace__Open *open;	 /* of the scope: id, run, view, backlog, reading, select */
	bool folds;			 /* folded parts may come */
	int64_t epoch_ns;		 /* event-space time at this host's CLOCK_MONOTONIC 0 */
	const char *self, *self_address; /* this agent's node, and how to connect to it from
					  * itself */
	/* Called once per input, when its child has settled (see hop_events). */
	void (*settled)(void *arg);
	void *arg;
};

/** A hop to @place, the gather's input number @input by way @way. Opens the scope there whenever
 * the child is up, and retries after a refusal at longer and longer intervals. Borrows @place. */
struct hop *hop_new(const struct hop_scope *scope, const struct plan_place *place, size_t input,
		    unsigned way, const struct hop_events *events, void *arg);

/** Close the scope at the child (@keep: its cursors stay) and free. NULL is fine. */
void hop_free(struct hop *hop, bool keep);

/** Is the child up, does it speak, and has it not refused? Then it can be asked. */
bool hop_reachable(const struct hop *hop);

/** Has it opened the scope as well, with all below that could be reached? */
bool hop_ready(const struct hop *hop);

/**
 * Pass an ask on, with a deadline that leaves time for the way back. Its `only` (place indexes)
 * restricts it to some leaves. Returns the hop's way if it was sent, 0 if the child cannot be asked
 * or has none of those leaves.
 */
unsigned hop_ask(struct hop *hop, const Evspace__Ask *ask);

/** Does the hop lead to one of these leaves (all, if @n is 0)? */
bool hop_leads_to(const struct hop *hop, const uint32_t *leaves, size_t n);

/** Note all leaves behind the hop as missing in @w; @late: it was asked and has not answered in
 * time. */
void hop_miss(struct hop *hop, struct wave *w, bool late);

/** What came from there was taken out of @w, for this reason: note all leaves behind the hop that
 * are not noted as missing in it so far. */
void hop_displaced(const struct hop *hop, struct wave *w, const char *why);

/** Hosts behind the hop that had not opened their parts when it settled; owned by the hop. */
size_t hop_unready(const struct hop *hop, const struct unready **list);

#endif
