/* SPDX-License-Identifier: BSD-3-Clause */
/* The reaper: watches the store and its processes in the agent's loop, and lets go of what is due.
 */
#ifndef EVSPACE_REAPER_H
#define EVSPACE_REAPER_H

#include <stdint.h>

#include "node-agent/source/source.h"

struct event_base;
struct reaper;

/**
 * Keep the store of @sources (initialised to be watched) in step from @base's loop: new segments
 * are mapped as they come, the end of a process is noted, segments of dead processes are removed
 * after
 * @retention_ns, and from their shelf what is over; of files that go, streams are told what they
 * lose. No timer runs unless something waits for its time to end.
 */
struct reaper *reaper_new(struct event_base *base, const struct source_host *sources,
			  uint64_t retention_ns);
void reaper_free(struct reaper *reaper);

/** From now on @looked is called, with @arg, each time after something has come or gone. */
void reaper_tell(struct reaper *reaper, void (*looked)(void *arg), void *arg);

/** Look now at what has come or gone, not only in the next round of the loop. */
void reaper_look(struct reaper *reaper);

/** Something was left behind that time ends, such as a scope's cursors. */
void reaper_note(struct reaper *reaper);

#endif
