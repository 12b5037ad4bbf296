/* SPDX-License-Identifier: BSD-3-Clause */
/* The keeper: watches the store and its processes in the agent's loop, and lets go of what is due.
 */
#ifndef EVSPACE_KEEPER_H
#define EVSPACE_KEEPER_H

#include <stdint.h>

#include "node-agent/shelf.h"
#include "node-agent/store.h"

struct event_base;
struct keeper;

/**
 * Keep @store (initialised with @watch) in step from @base's loop: new segments are mapped as they
 * come, the end of a process is noted, segments of dead processes are removed after @retention_ns,
 * and from @shelf what is over. No timer runs unless something waits for its time to end.
 */
struct keeper *keeper_new(struct event_base *base, struct store *store, struct shelf *shelf,
			  uint64_t retention_ns);
void keeper_free(struct keeper *keeper);

/** From now on @looked is called, with @arg, each time after something has come or gone. */
void keeper_tell(struct keeper *keeper, void (*looked)(void *arg), void *arg);

/** Look now at what has come or gone, not only in the next round of the loop. */
void keeper_look(struct keeper *keeper);

/** Something was left behind that time ends, such as a scope's cursors. */
void keeper_note(struct keeper *keeper);

#endif
