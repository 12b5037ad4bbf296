/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's own code in this process, as it is compiled for programs: events to measure. */
#ifndef EVSPACE_BENCH_COLLECT_PATH_H
#define EVSPACE_BENCH_COLLECT_PATH_H

#include <stdint.h>

#include "node-agent/collect/core/collect.h"
#include "pathmap/base/error.h"

/** Make this process's segment, unless it is there, and run on the measured core. 0, or -1. */
int path_start(struct error *e);

/** What a wrapper does, without the real call in it. Returns the time of its end, 0 if it is not
 * recorded. */
uint64_t path_event(struct collect_classes *classes, uint32_t tag, uint64_t bytes);

/** Nanoseconds of one event, of many on one class. */
double path_events(void);

#endif
