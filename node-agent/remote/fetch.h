/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetching: copies elements that the map says are remote on this node from their agents into
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

/** From soon on, fetch what the map says is remote on @host->node into mirrors, from all nodes
 * with ranks. NULL if that is nothing. All arguments stay the caller's. */
struct fetches *fetches_new(struct event_base *base, const struct source_host *host,
			    struct child_set *children, struct reaper *reaper);

/** Stop fetching; the rest stays at its nodes. NULL is fine. */
void fetches_free(struct fetches *fetches);

/** Shared by all fetching of an agent. */
struct fetch_host {
	const struct source_host *sources;
	struct reaper *reaper;
	struct error diagnostic; /* the last one reported */
};

struct fetch_take;

/** Store what comes from @node. @host must outlive it. */
struct fetch_take *fetch_take_new(struct fetch_host *host, const char *node);
void fetch_take_free(struct fetch_take *take);

/** Learns the names of what comes. Another one after fetch_take_lost(). */
struct names *fetch_take_names(struct fetch_take *take);

/** Append what a wave brought. *@fill: the largest part (0 to 1) of a ring that was written
 * since the last wave. Returns 0, or -1 when not all could be kept: then fetch it again. */
int fetch_take(struct fetch_take *take, const struct batch *batch, double *fill);

/** The node is not reached: whether its processes live is not known, and names will be sent
 * again. */
void fetch_take_lost(struct fetch_take *take);

/** Lines for the status: what other nodes fetch from here, and what this one fetches. */
struct remote_report {
	char **texts;
	size_t n;
};

void remote_report_init(struct remote_report *report, const struct source_host *host);
void remote_report_fini(struct remote_report *report);

#endif
