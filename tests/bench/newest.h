/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading newest tuples on their host: what a source takes for each, and what a bare loop takes. */
#ifndef EVSPACE_BENCH_NEWEST_H
#define EVSPACE_BENCH_NEWEST_H

#include "pathmap/base/error.h"

/** Elements that are read. */
#define NEWEST_ELEMENTS 2000u

/** Nanoseconds per element: medians over many readings. */
struct newest_cost {
	double source_ns, floor_ns;
};

/**
 * Have a process on another core write a tuple into each of 2,000 rings, so that they lie in its
 * cache, then read all of them here: by an agent's source, and by a loop that only copies tuples
 * and fetches ahead; in turn, for @seconds. The run is made in the folder @base, which
 * is made. Returns 0, or -1
 * with @e.
 */
int newest_measure(const char *base, double seconds, struct newest_cost *cost, struct error *e);

#endif
