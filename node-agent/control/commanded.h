/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of one session that are under way: switching classes, discarding, or asking about both.
 */
#ifndef EVSPACE_COMMANDED_H
#define EVSPACE_COMMANDED_H

#include <stddef.h>

#include "pathmap/base/error.h"
#include "node-agent/control/underway.h"
#include "tree/wire/wire.h"

struct link;
struct plan;
struct session_host;

/**
 * Carry out what the peer of @link asks for, if it may, and answer it later. What is under way is
 * in @list. Whatever changes something is in the audit. Returns 0, or -1 with errno and @e.
 */
int commanded_take(struct session_host *host, struct underway_list *list, struct link *link,
		   const Evspace__SwitchAsk *ask, struct error *e);

/** Say in the audit that an order that would change something was refused for @e. errno stays. */
void commanded_refused(struct session_host *host, struct link *link, const Evspace__SwitchAsk *ask,
		       const struct error *e);

/**
 * The peer of @link names a view and a run, or none: the plan of that view from here on, and in
 * @chosen the run if it is known; @awaited: it need not be there yet. NULL with @e.
 */
struct plan *commanded_plan(const struct session_host *host, const struct link *link,
			    const char *view, const char *run, bool awaited, char *chosen,
			    size_t room, struct error *e);

#endif
