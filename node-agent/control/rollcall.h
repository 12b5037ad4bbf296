/* SPDX-License-Identifier: BSD-3-Clause */
/* Rollcalls: musters of agents that are under way for one connection. */
#ifndef EVSPACE_ROLLCALL_H
#define EVSPACE_ROLLCALL_H

#include <sys/queue.h>

#include "pathmap/base/error.h"
#include "tree/wire/wire.h"

struct link;
struct rollcall;
struct session_host;
LIST_HEAD(rollcall_list, rollcall);

/**
 * Answer @ask on @link, now or later: for this agent alone, for its place and those below, or, at
 * the entry, for all agents of the map. What is under way is in @list. Returns 0, or -1 with errno
 * and @e.
 */
int rollcall_answer(const struct session_host *host, struct rollcall_list *list, struct link *link,
		    const Evspace__StatusAsk *ask, struct error *e);

/** Forget those that are under way. */
void rollcall_end_all(struct rollcall_list *list);

#endif
