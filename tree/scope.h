/* SPDX-License-Identifier: BSD-3-Clause */
/* A scope's part on one host: source, local stages, gather over hops, joined stages, answers
 * upstream. */
#ifndef EVSPACE_SCOPE_H
#define EVSPACE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/error.h"
#include "tree/child.h"
#include "tree/stage.h"

struct event_base;
struct scope;

/** What the process that runs scopes gives to them. Outlives its scopes. */
struct scope_host {
	struct event_base *base;
	struct child_set *children;
	int64_t epoch_ns; /* event-space time at this host's CLOCK_MONOTONIC 0 */
	/* The source over this host's elements for a leaf place; NULL with @e. */
	struct stage *(*source_new)(void *arg, const Evspace__Open *open,
				    const struct plan_place *place, struct names *names,
				    struct error *e);
	/* Free it; @keep: its cursors stay, because the consumer may come back with the same scope
	 * id. */
	void (*source_free)(void *arg, struct stage *source, bool keep);
	void *arg;
};

/**
 * Build the part that @open (with its place) describes; answers go to @up. Hops to children are
 * opened at once and as often as their agents come back. `Opened` is said when all children have
 * said it, cannot be reached, or have not settled within a second. Returns NULL with @e and errno
 * (EINVAL, EPROTO, …).
 */
struct scope *scope_new(const struct scope_host *host, struct link *up, const Evspace__Open *open,
			struct error *e);

/** Tear down here and at the children; @keep: cursors stay. NULL is fine. */
void scope_free(struct scope *scope, bool keep);

/** Begin the waves of an ask: each gives one answer upstream. Returns 0, or -1 with EPROTO and @e.
 */
int scope_ask(struct scope *scope, const Evspace__Ask *ask, struct error *e);

/** Its number on the upstream link. */
uint32_t scope_number(const struct scope *scope);

#endif
