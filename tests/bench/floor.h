/* SPDX-License-Identifier: BSD-3-Clause */
/* The floor: a bare gather tree that does the unavoidable part of a wave, and nothing else. */
#ifndef EVSPACE_BENCH_FLOOR_H
#define EVSPACE_BENCH_FLOOR_H

#include <stddef.h>

#include "pathmap/error.h"
#include "tests/bench/meter.h"

/** One process of the tree. */
struct floor_place {
	size_t parent;	   /* before it in the list; place 0 is the root and has none */
	unsigned elements; /* rings that it holds itself */
};

struct floor;

/**
 * Start a process for each of @places and one more, the consumer, which asks the root for waves as
 * fast as they come, @window under way. Processes are connected by TCP over loopback and use epoll;
 * each writes once per connection and round. A wave is the newest 40-byte tuple of every element,
 * copied out of rings of @capacity tuples. There is no TLS, no check, no name, no deadline.
 * Returns NULL with @e.
 */
struct floor *floor_new(const struct floor_place *places, size_t n, unsigned capacity,
			unsigned window, struct error *e);

/** End all of it. NULL is fine. */
void floor_free(struct floor *floor);

const struct tree_processes *floor_processes(const struct floor *floor);

#endif
