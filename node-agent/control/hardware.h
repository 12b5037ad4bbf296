/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of processors, by perf_event_open(2): they count in processes of this host while
 * somebody asks for them. */
#ifndef EVSPACE_HARDWARE_H
#define EVSPACE_HARDWARE_H

#include "node-agent/control/process-table.h"

struct event_base;

/** What is counted; the number of a Counter, and of a bit in a StatusAsk. */
enum hardware_event {
	HARDWARE_CYCLES,
	HARDWARE_INSTRUCTIONS,
	HARDWARE_CACHE_MISSES,
	HARDWARE_MIGRATIONS,
	HARDWARE_EVENTS
};

/** All that count on this host. */
struct hardware;

/** Add to the living processes of @tables that are not misplaced what each of the events of @which
 * has come to since it was first asked for, in all threads, or why it cannot be counted. What
 * nobody asks for in 15 s ends. */
void hardware_fill(struct hardware *all, struct process_tables *tables, uint32_t which);

/** None at first. */
struct hardware *hardware_new(struct event_base *base);

/** NULL is fine. */
void hardware_free(struct hardware *all);

#endif
