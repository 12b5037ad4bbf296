/* SPDX-License-Identifier: BSD-3-Clause */
/* The floor: a bare gather tree that does the unavoidable part of a wave, and nothing else. */
#ifndef EVSPACE_BENCH_FLOOR_H
#define EVSPACE_BENCH_FLOOR_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "tests/bench/meter.h"
#include "tree/data/urgency.h"

/** One process of the tree. */
struct floor_place {
	size_t parent;	   /* before it in the list; place 0 is the root and has none */
	unsigned elements; /* rings that it holds itself */
};

/** What the processes are connected by. */
enum floor_net { FLOOR_TCP, FLOOR_TLS, FLOOR_UNIX };

/** How a floor's waves are made. */
struct floor_options {
	unsigned capacity;    /* tuples that a ring holds */
	unsigned window;      /* waves under way */
	double rate;	      /* waves a second; 0: as fast as they come */
	enum urgency urgency; /* class of all processes; URGENCY_UNSAID: this one's */
	bool reduce; /* each process passes on the newest tuple of all that are below it, only */
	enum floor_net net;
	const char *tls; /* FLOOR_TLS: a folder with certificates (deploy/certs) of … */
	const char *agent, *consumer; /* … an agent, for all processes, and a consumer */
};

struct floor;

/**
 * Start a process for each of @places and one more, the consumer, which asks the root for waves.
 * Processes are connected over the loopback interface or by Unix sockets and use epoll; each writes
 * once per connection and round. A wave is the newest 40-byte tuple of every element, copied out of
 * rings. There is no check, no name, no deadline, and only with FLOOR_TLS any security. @o and
 * @places outlive it. Returns NULL with @e.
 */
struct floor *floor_new(const struct floor_place *places, size_t n, const struct floor_options *o,
			struct error *e);

/** End all of it. NULL is fine. */
void floor_free(struct floor *floor);

const struct tree_processes *floor_processes(const struct floor *floor);

#endif
