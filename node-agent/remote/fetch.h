/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetching: what the map says is remote on this node comes here from the agents that have it. */
#ifndef EVSPACE_FETCH_H
#define EVSPACE_FETCH_H

#include "node-agent/source/reaper.h"
#include "node-agent/source/source.h"
#include "tree/scope/child.h"

struct event_base;
struct fetches;

/**
 * Fetch from all nodes of the map that hold ranks what it says is remote on @host->node, into
 * mirrors, from soon on. NULL when it says so of nothing. All arguments stay the caller's.
 */
struct fetches *fetches_new(struct event_base *base, const struct source_host *host,
			    struct child_set *children, struct reaper *reaper);

/** Stop; what was not fetched stays where it is. NULL is fine. */
void fetches_free(struct fetches *fetches);

#endif
