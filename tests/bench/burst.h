/* SPDX-License-Identifier: BSD-3-Clause */
/* A burst: a consumer in a process of its own that asks for so many waves at once, and no more. */
#ifndef EVSPACE_BENCH_BURST_H
#define EVSPACE_BENCH_BURST_H

#include "tests/bench/puller.h"

/**
 * Open the scope that @o describes, pull @waves waves, and say how many came per second, from the
 * asking for the first to the coming of the last. Returns 0, or -1 with @e.
 */
int burst_measure(const struct puller_options *o, unsigned waves, double *per_second,
		  struct error *e);

#endif
