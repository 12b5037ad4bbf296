/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: trees without a consumer, to see whether all hosts of a map answer, and agree. */
#ifndef EVSPACE_REMAP_PROBE_H
#define EVSPACE_REMAP_PROBE_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"

struct active_map_draft;
struct link;
struct pathmap;
struct scope;
struct session_host;

/** Plain data; of the host, and whom to call, at first. */
struct remap_probe {
	struct session_host *host;
	void (*done)(void *arg); /* all hosts have answered, or cannot be reached */
	void *arg;
	struct scope *scope;
	struct plan *plan;
	bool settled;
};

/** Open a tree for @asker by @draft (NULL: the map in effect), whose hosts report contradictions to
 * @other (NULL: none). Returns 0, or -1 with errno and @e. */
int remap_probe_begin(struct remap_probe *probe, struct link *asker,
		      const struct active_map_draft *draft, const struct pathmap *other,
		      struct error *e);

/** Close it, if it is open. */
void remap_probe_end(struct remap_probe *probe);

#endif
