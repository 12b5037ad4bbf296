/* SPDX-License-Identifier: BSD-3-Clause */
/* A status gather: asks all agents below one for their statuses, down the tree, and joins them. */
#ifndef EVSPACE_GATHER_STATUS_H
#define EVSPACE_GATHER_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/child.h"

struct event_base;
struct gather_status;

/** What the process provides that answers status questions. Outlives them. */
struct gather_status_host {
	struct event_base *base;
	struct child_set *children;
	int64_t epoch_ns; /* event-space time at this host's CLOCK_MONOTONIC 0 */
	/* Begin what takes time for this agent's own status, which @ask wants by @deadline_ms from
	 * now on. Returns whether there is something; then gather_status_ready() says that it is
	 * done. Called before gather_status_new() returns. NULL: there is never. */
	bool (*begin)(void *arg, const Evspace__StatusAsk *ask, uint32_t deadline_ms);
	/* Fill this agent's own status into @frame, where those below are set already, and send it
	 * to @up. */
	void (*answer)(void *arg, struct link *up, Evspace__Frame *frame);
	/* The answer was sent: call gather_status_free() now. */
	void (*done)(void *arg, struct gather_status *gather);
	void *arg;
};

/**
 * Ask all agents below this one, which is the place of @ask, and answer @up when all have answered
 * or the deadline has passed, never before this returns. Each status has the times when the ask
 * came and when it was answered, to compare clocks, and says how its clock of the event space
 * relates to this one's. Hosts that have not answered are included, with
 * the reason. Returns NULL with EPROTO and @e. The caller frees it, at the latest when @up is gone.
 */
struct gather_status *gather_status_new(const struct gather_status_host *host, struct link *up,
					const Evspace__StatusAsk *ask, struct error *e);

/** What begin() has begun is done. */
void gather_status_ready(struct gather_status *gather);

/**
 * Shrink @frame, a Status with those below it, until it fits into a frame: replaces the largest
 * ones below by the reason that they do not fit, as for missing hosts. This host's own status
 * stays.
 */
void gather_status_fit(Evspace__Frame *frame);

/** Forget it, answered or not. NULL is fine. */
void gather_status_free(struct gather_status *gather);

#endif
