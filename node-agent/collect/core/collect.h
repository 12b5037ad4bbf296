/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's path: what is done at the begin and the end of each operation
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

/** Let go of the segment, as in a forked child of the parent's: operations under way, in any
 * thread, end in vain. The process may start another one, and keeps this one's addresses. */
void collect_abandon(void);

/** Nothing more is entered; what is under way comes to its end. The segment stays. */
void collect_finish(void);

/** Unmap the segment; for tests and benches, where no other thread collects. */
void collect_stop(void);

#endif
