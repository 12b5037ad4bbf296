/* SPDX-License-Identifier: BSD-3-Clause */
/* A status gather: the statuses of all agents below one, asked for down the tree and taken
 * together. */
#ifndef EVSPACE_GATHER_STATUS_H
#define EVSPACE_GATHER_STATUS_H

#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/child.h"

struct event_base;
struct gather_status;

/** What the process that answers gives to status gathers. Outlives them. */
struct gather_status_host {
	struct event_base *base;
	struct child_set *children;
	/* Answer with @frame, whose status is to be filled in with this agent's own but for what is
	   below; send it to @up. */
	void (*answer)(void *arg, struct link *up, Evspace__Frame *frame);
	/* The answer was sent: gather_status_free() it now. */
	void (*done)(void *arg, struct gather_status *gather);
	void *arg;
};

/**
 * Ask all agents below this one, which is the place of @ask, and answer @up when all have
 * answered, or when the deadline has passed; that is never before this returns. Each says when it
 * got the ask and when it answered, by which its clock is compared with ours. Who has not answered
 * is in the answer, with the reason. Returns NULL with EPROTO and @e. The caller frees it, at the
 * latest when @up is gone.
 */
struct gather_status *gather_status_new(const struct gather_status_host *host, struct link *up,
					const Evspace__StatusAsk *ask, struct error *e);

/**
 * Make @frame, a Status with those below it, fit into a frame: of the largest below is said that
 * they do not, as of hosts that are missing, until it does. What it says of itself stays.
 */
void gather_status_fit(Evspace__Frame *frame);

/** Forget it, answered or not. NULL is fine. */
void gather_status_free(struct gather_status *gather);

#endif
