/* SPDX-License-Identifier: BSD-3-Clause */
/* The reaper: watches the store and its processes in the agent's loop, and removes what is due. */
#ifndef EVSPACE_REAPER_H
#define EVSPACE_REAPER_H

#include <stdint.h>

#include "node-agent/source/source.h"

struct event_base;
struct reaper;

/**
 * Keep the store of @sources (initialised with watches) up to date from @base's loop: map new
 * segments, note ends of processes, remove segments of dead processes after @retention_ns and
 * expired files of the shelf, and tell streams what they lose with removed files. No timer runs
 * unless something is to expire.
 */
struct reaper *reaper_new(struct event_base *base, const struct source_host *sources,
			  uint64_t retention_ns);
void reaper_free(struct reaper *reaper);

/** From now on call @looked with @arg whenever something has come or gone. */
void reaper_tell(struct reaper *reaper, void (*looked)(void *arg), void *arg);

/** Update the store now, and not only in the next round of the loop. */
void reaper_look(struct reaper *reaper);

/** Something that expires was left, such as a scope's cursors: set the timer again. */
void reaper_note(struct reaper *reaper);

#endif
