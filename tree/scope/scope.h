/* SPDX-License-Identifier: BSD-3-Clause */
/* A scope's part on one host: what one link has asked of a tree, and is answered. */
#ifndef EVSPACE_SCOPE_H
#define EVSPACE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/scope/failover.h"
#include "tree/scope/child.h"
#include "tree/stage/stage.h"
#include "tree/scope/scope-shared.h"
#include "tree/scope/trunk.h"

struct event_base;
struct scope;
struct tracer;

/** What the process provides that runs scopes. Outlives its scopes. */
struct scope_host {
	struct event_base *base;
	struct child_set *children;
	struct scope_shared_list *scopes_shared;
	struct trunk_list *trunks;
	struct turns *turns;
	const char *self, *self_address; /* its node, and how to connect to it from itself */
	int64_t epoch_ns;		 /* event-space time at this host's CLOCK_MONOTONIC 0 */
	struct urgent *urgent;		 /* its scheduling class; NULL: nothing changes it */
	struct tracer *tracer;		 /* records what is done for scopes; NULL: nothing does */
	/* Make the source of this host's elements for a leaf place. NULL with @e. */
	struct stage *(*source_new)(void *arg, const Evspace__Open *open,
				    const struct plan_place *place, struct names *names,
				    struct error *e);
	/* Change the source to another place of the same node, which outlives it. */
	void (*source_replace)(void *arg, struct stage *source, const struct plan_place *place);
	/* Free it; @keep: its cursors stay, as the consumer may come back with the same scope
	 * id. */
	void (*source_free)(void *arg, struct stage *source, bool keep);
	void *arg;
};

/** Called from the loop, never from within a call of the scope's. May free the scope. */
typedef void scope_call(void *arg, struct scope *scope);

/**
 * Build the part that @open (with its place) describes, or share one that answers the same
 * question; answers go to @up. Opens hops to children at once, and again whenever their agents come
 * back. Calls @settled, or sends `Opened` if that is NULL, when all children have settled (opened
 * it, refused, or cannot be reached) or a second has passed, and a leaf has copied all that there
 * is. Returns NULL with @e and errno (EINVAL, EPROTO, …).
 */
struct scope *scope_new(const struct scope_host *host, struct link *up, const Evspace__Open *open,
			scope_call *settled, void *arg, struct error *e);

/** The same for the tree that is to replace that of @was, by @open, which differs from what that
 * was opened with in place, generation and signer: who has shared the old one shares the new one.
 */
struct scope *scope_next(const struct scope *was, const Evspace__Open *open, scope_call *settled,
			 void *arg, struct error *e);

/** Send `Opened` upstream: which leaves there are, and which hosts have not opened their parts. */
void scope_say_opened(struct scope *scope);

/** Report the hosts of the plan that have not opened their parts. */
void scope_unready(const struct scope *scope, failover_report *report, void *arg);

/** Call @idle once, when no wave of it is under way; none waits for other scopes any more. */
void scope_drain(struct scope *scope, scope_call *idle, void *arg);

/** Close it here and at the children; @keep: cursors stay. NULL is fine. */
void scope_free(struct scope *scope, bool keep);

/** Begin the waves of an ask: each gives one answer upstream. Returns 0, or -1 with EPROTO and
 * @e. */
int scope_ask(struct scope *scope, const Evspace__Ask *ask, struct error *e);

/** The Open that it was made of, without its place. */
const Evspace__Open *scope_opened_with(const struct scope *scope);

/** Unix time when its tree was made, and the passes in it. */
int64_t scope_since(const struct scope *scope);

/** What its answers so far have cost: CPU seconds of a host's agent, each wave shared among those
 * who rode on it. */
double scope_spent(const struct scope *scope);

/** How many waves it waits for. */
unsigned scope_awaits(const struct scope *scope);

/** How many more may be under way by the map's `window`, whether asked for the first time or again:
 * it is up to the caller to have others wait. */
uint32_t scope_room(const struct scope *scope);

/** Tell with the next answer which @part of a @total is its, of the program's time; 0: any. */
void scope_share(struct scope *scope, double total, double part);

/** Bytes on the wire, and number, of its answers so far. */
void scope_sent(const struct scope *scope, uint64_t *bytes, uint64_t *answers);

/** Its number on the upstream link. */
uint32_t scope_number(const struct scope *scope);

#endif
