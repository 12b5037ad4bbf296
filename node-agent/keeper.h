/* SPDX-License-Identifier: BSD-3-Clause */
/* The keeper: watches the store and its processes in the agent's loop, and lets go of what is due.
 */
#ifndef EVSPACE_KEEPER_H
#define EVSPACE_KEEPER_H

#include <stdint.h>

#include "node-agent/source.h"

struct event_base;
struct keeper;

/**
 * Keep the store of @sources (initialised with @watch) in step from @base's loop: new segments are
 * mapped as they come, the end of a process is noted, segments of dead processes are removed after
 * @retention_ns, and from their shelf what is over; of files that go, streams are told what they
 * lose. No timer runs unless something waits for its time to end.
 */
struct keeper *keeper_new(struct event_base *base, const struct source_host *sources,
			  uint64_t retention_ns);
void keeper_free(struct keeper *keeper);

/** From now on @looked is called, with @arg, each time after something has come or gone. */
void keeper_tell(struct keeper *keeper, void (*looked)(void *arg), void *arg);

/** Look now at what has come or gone, not only in the next round of the loop. */
void keeper_look(struct keeper *keeper);

/** Something was left behind that time ends, such as a scope's cursors. */
void keeper_note(struct keeper *keeper);

#endif
