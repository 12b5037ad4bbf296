/* SPDX-License-Identifier: BSD-3-Clause */
/* An order to switch classes of operations, on its way down a view's tree and back with what came
 * of it. */
#ifndef EVSPACE_ORDER_H
#define EVSPACE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/child.h"
#include "tree/scope/classes.h"

struct event_base;
struct order;

/** What is said of an order that was carried out on a host. */
struct order_said {
	char run[64];
	char why[160];
};

/** What the process that carries orders out gives to them. Outlives them. */
struct order_host {
	struct event_base *base;
	struct child_set *children;
	/* Carry @ask out on this host's processes, as far as the leaf @place goes: add what their
	   classes are now to @classes, and say in @host (its name is set) how many there are and
	   were changed; host->text, if any, and the run that it took ("": there is none) are in
	   @said. */
	void (*carry)(void *arg, const Evspace__SwitchAsk *ask, const struct plan_place *place,
		      struct classes *classes, Evspace__Host *host, struct order_said *said);
	/* Can a run have that name? */
	bool (*is_run)(const char *name);
	/* The answer was sent: order_free() it now. */
	void (*done)(void *arg, struct order *order);
	void *arg;
};

/**
 * Carry @ask (with its place) out here, pass it on to all children, and answer with Switched to @up
 * when all have answered, or its deadline has passed; that is never before this returns. Who has
 * not answered is named in the answer. Returns NULL with EPROTO and @e. The caller frees it, at the
 * latest when @up is gone.
 */
struct order *order_new(const struct order_host *host, struct link *up,
			const Evspace__SwitchAsk *ask, struct error *e);

/** Has any host that answered had something to do? */
bool order_changed(const struct order *order);

/** What came of an order that is done, in words: "4 processes on 2 of 3 hosts". Returns @buf. */
const char *order_outcome(const struct order *order, char *buf, size_t n);

/** Forget it, answered or not. NULL is fine. */
void order_free(struct order *order);

#endif
