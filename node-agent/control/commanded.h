/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of one session under way: switches of classes, discards, and questions about both. */
#ifndef EVSPACE_COMMANDED_H
#define EVSPACE_COMMANDED_H

#include <stddef.h>

#include "pathmap/base/error.h"
#include "node-agent/control/underway.h"
#include "tree/wire/wire.h"

struct link;
struct plan;
struct plan_wish;
struct session_host;

/**
 * Carry out a command of the peer of @link, if it may, and answer it later. Commands under way are
 * in @list; those that change something are logged in the audit. Returns 0, or -1 with errno and
 * @e.
 */
int commanded_take(struct session_host *host, struct underway_list *list, struct link *link,
		   const Evspace__SwitchAsk *ask, struct error *e);

/** Log in the audit that a command that would change something was refused because of @e. Keeps
 * errno. */
void commanded_refused(struct session_host *host, struct link *link, const Evspace__SwitchAsk *ask,
		       const struct error *e);

/** The plan, from here down, of what the peer of @link wishes to see of @run. Writes the run to
 * @chosen if it is known; @awaited: it need not exist yet. NULL with @e. */
struct plan *commanded_plan(const struct session_host *host, const struct link *link,
			    const struct plan_wish *wish, const char *run, bool awaited,
			    char *chosen, size_t room, struct error *e);

#endif
