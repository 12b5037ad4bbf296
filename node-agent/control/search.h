/* SPDX-License-Identifier: BSD-3-Clause */
/* A search: which run is meant where none is named, of all that the agents of the map hold. */
#ifndef EVSPACE_SEARCH_H
#define EVSPACE_SEARCH_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "node-agent/control/underway.h"
#include "tree/wire/wire.h"

struct link;
struct session_host;

/**
 * Is there anything to search for? When @frame, an Open, a SwitchAsk or a question for process
 * tables of a consumer, names no run and this is the entry of a map of several nodes: any may hold
 * one.
 */
bool search_needed(const struct session_host *host, const Evspace__Frame *frame);

/**
 * Ask all agents for their runs, as @frame's peer at @link may see them. Then, from the loop,
 * @found is called with the frame, in which the run is named now: the only live one, else the one
 * that began last; or with an error, when several are live, or when it cannot be sure because a
 * host does not answer: of one live run that is enough for what only looks. Where there is none at
 * all, the name is still "". What is under way is in @list. Returns 0, or -1 with errno and @e.
 */
int search_begin(const struct session_host *host, struct underway_list *list, struct link *link,
		 const Evspace__Frame *frame,
		 void (*found)(void *arg, const Evspace__Frame *frame, const struct error *e),
		 void *arg, struct error *e);

/** The number that errors about such a frame carry. */
uint32_t search_scope(const Evspace__Frame *frame);

/** The scope that is searched a run for is closed: forget it. */
void search_close(struct underway_list *list, uint32_t scope);

#endif
