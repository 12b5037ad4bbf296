/* SPDX-License-Identifier: BSD-3-Clause */
/* A follower: a consumer that looks at every tuple and at the time between waves, and compares with
 * the segments in the end. */
#ifndef EVSPACE_BENCH_FOLLOWER_H
#define EVSPACE_BENCH_FOLLOWER_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** What it has seen, in memory shared with the bench. */
struct testimony {
	_Atomic uint64_t waves, remaps;
	_Atomic uint64_t gap_us;	/* the longest between two waves since it was set to 0 */
	_Atomic uint64_t switch_gap_us; /* the longest before a wave that was the first by a map */
	_Atomic uint64_t delivered, duplicated,
		lost;		    /* lost: written and not delivered, at the end */
	_Atomic uint64_t told_lost; /* of these the consumer was told: overwritten before read */
	_Atomic int ended;
	char why[256]; /* it failed; "": it has not */
};

struct follower_options {
	const char *connect, *tls, *identity, *run;
	const char *folder; /* of the run's segments */
	double rate_hz;
};

/** Start one in a process of its own. Returns its pid and *@seen, or -1 with @e. */
pid_t follower_start(const struct follower_options *o, struct testimony **seen, struct error *e);

/** Forget what it said. NULL is fine. */
void follower_free(struct testimony *seen);

#endif
