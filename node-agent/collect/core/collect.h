/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's path: what runs at the start and the end of each operation
 * (docs/architecture.md). */
#ifndef EVSPACE_COLLECT_H
#define EVSPACE_COLLECT_H

#include "node-agent/collect/core/collect-event.h"

/**
 * Make the process's segment by @plan and this thread its thread 0; measure what an event costs.
 * Not part of the path: it makes system calls. Returns 0, or -1 with errno and @e; the path then
 * does nothing.
 */
int collect_start(const struct segment_plan *plan, struct error *e);

/** Drop the segment, as a forked child drops its parent's: operations under way, in any thread,
 * record nothing. The process may start another segment; the addresses of this one stay mapped. */
void collect_abandon(void);

/** Record no more operations; those under way end as usual. The segment stays. */
void collect_finish(void);

/** Unmap the segment. For tests and benches: no other thread may collect. */
void collect_stop(void);

#endif
