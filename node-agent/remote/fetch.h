/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetching: what the map says is remote on this node comes here from the agents that have it, into
 * mirrors. */
#ifndef EVSPACE_FETCH_H
#define EVSPACE_FETCH_H

#include "node-agent/source/reaper.h"
#include "node-agent/source/source.h"
#include "tree/scope/child.h"
#include "tree/data/batch.h"
#include "tree/data/names.h"

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

/** What all of an agent's fetching shares. */
struct fetch_host {
	const struct source_host *sources;
	struct reaper *reaper;
	struct error diagnostic; /* said last */
};

struct fetch_take;

/** Take what comes from @node. @host outlives it. */
struct fetch_take *fetch_take_new(struct fetch_host *host, const char *node);
void fetch_take_free(struct fetch_take *take);

/** Where the names of what comes are to be learnt; another one after fetch_take_lost(). */
struct names *fetch_take_names(struct fetch_take *take);

/**
 * Append what a wave brought. *@fill: how much of a ring was written since the last one, at most,
 * of 1. Returns 0, or -1 when not all could be kept: then it is to be fetched again.
 */
int fetch_take(struct fetch_take *take, const struct batch *batch, double *fill);

/** The node is not reached: whether its processes live is not known, and names come anew. */
void fetch_take_lost(struct fetch_take *take);

/** What the status says of what other nodes fetch from here, and what this one does: a line each.
 */
struct remote_report {
	char **texts;
	size_t n;
};

void remote_report_init(struct remote_report *report, const struct source_host *host);
void remote_report_fini(struct remote_report *report);

#endif
