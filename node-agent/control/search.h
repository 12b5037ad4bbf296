/* SPDX-License-Identifier: BSD-3-Clause */
/* A search: finds the default run among those that the agents of the map hold. */
#ifndef EVSPACE_SEARCH_H
#define EVSPACE_SEARCH_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "node-agent/control/underway.h"
#include "tree/wire/wire.h"

struct link;
struct session_host;

/** Must the run be searched for? Yes if @frame is a consumer's Open, SwitchAsk or question for
 * process tables that names no run, and this is the entry of a map of several nodes. */
bool search_needed(const struct session_host *host, const Evspace__Frame *frame);

/**
 * Ask all agents for their runs that @frame's peer at @link may see. Then @found is called from the
 * loop with the frame, which names the run now: the only live one, else the one that began last, or
 * "" if there is none. Or it is called with an error: several are live, or a host does not answer,
 * so that the run is not certain (a frame that changes nothing accepts what was found all the
 * same). Searches under way are in @list. Returns 0, or -1 with errno and @e.
 */
int search_begin(const struct session_host *host, struct underway_list *list, struct link *link,
		 const Evspace__Frame *frame,
		 void (*found)(void *arg, const Evspace__Frame *frame, const struct error *e),
		 void *arg, struct error *e);

/** The scope number for errors about such a frame. */
uint32_t search_scope(const Evspace__Frame *frame);

/** Drop the search for a scope that is closed. */
void search_close(struct underway_list *list, uint32_t scope);

#endif
