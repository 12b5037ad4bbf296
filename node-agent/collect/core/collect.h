/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's path: what runs at the start and the end of each operation
 * (docs/architecture.md). */
#ifndef EVSPACE_COLLECT_H
#define EVSPACE_COLLECT_H

#include "node-agent/collect/core/collect-event.h"

/**
 * Make the process's segment by @plan and this thread its thread 0. Not part of the path: it makes
 * system calls. Returns 0, or -1 with errno and @e; the path then does nothing.
 */
int collect_start(const struct segment_plan *plan, struct error *e);

/** Drop the segment, as a forked child drops its parent's: operations under way, in any thread,
 * record nothing. The process may start another segment; the addresses of this one stay mapped. */
void collect_abandon(void);

/** Record no more operations; those under way end as usual. The segment stays. */
void collect_finish(void);

/** Unmap the segment. For tests and benches: no other thread may collect. */
void collect_stop(void);

/** Prepare the classes of the communicator with @comm as id. */
void collect_classes_init(struct collect_classes *classes, uint32_t comm);

/**
 * Number the calls of these @channels (bits) on the communicator, which is not in use yet; members
 * compare the numbers. While such a class is off its calls get none: later numbers cannot be
 * compared, and collect_classes.on says so.
 */
void collect_classes_number(struct collect_classes *classes, uint32_t channels);

/** Before a call of another channel gets a number: check whether calls were missed meanwhile. */
void collect_classes_check(struct collect_classes *classes);

/** Make the class of @channel before its first use, so that it can be switched. */
void collect_classes_make(struct collect_classes *classes, unsigned channel);

/** The class of @channel, made if it has not been yet. */
unsigned collect_class_ready(struct collect_classes *classes, unsigned channel);

/** The mode of @class, now entered again after it was off: calls may have been missed meanwhile. */
unsigned collect_class_resumed(struct collect_classes *classes, unsigned class, unsigned channel);

#endif
