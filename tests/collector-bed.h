/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations as wrappers make them, and what the collector has of them. */
#ifndef EVSPACE_TESTS_COLLECTOR_BED_H
#define EVSPACE_TESTS_COLLECTOR_BED_H

#include "node-agent/collect/core/collect.h"
#include "node-agent/segment/segment-class.h"

/** Begin to collect, in an empty folder, with a reserve of so many @threads. */
void collector_bed_start(uint32_t threads);

/** One operation of @bytes, as a wrapper makes it, that calls @inner while it lasts. */
void collector_bed_operate(unsigned channel, uint64_t bytes, void (*inner)(void));

/** Two operations, for within another one. */
void collector_bed_operate_twice(void);

/** One operation of class P2P. */
void collector_bed_operate_on(struct collect_classes *classes, uint16_t op);

/** What a thread's element has: tuples so far; tuples that no element had room for; its counts. */
uint64_t collector_bed_head(uint32_t thread, unsigned channel);
uint64_t collector_bed_overflowed(void);
struct segment_sum collector_bed_counts(uint32_t thread, unsigned channel);
uint64_t collector_bed_events(uint32_t thread, unsigned channel);

#endif
