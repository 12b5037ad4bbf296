/* SPDX-License-Identifier: BSD-3-Clause */
/* The report: the status of an agent, of the processes whose elements it holds, and of agents
 * below. */
#ifndef EVSPACE_REPORT_H
#define EVSPACE_REPORT_H

#include "node-agent/control/session.h"
#include "node-agent/control/underway.h"

/**
 * Answer @ask on @link, now or later: for this agent alone, for its place and those below, or, at
 * the entry, for all agents of the map. Questions under way are in @list. Returns 0, or -1 with
 * errno and @e.
 */
int report_take(const struct session_host *host, struct underway_list *list, struct link *link,
		const Evspace__StatusAsk *ask, struct error *e);

#endif
