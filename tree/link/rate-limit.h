/* SPDX-License-Identifier: BSD-3-Clause */
/* A rate limit: how many lines may be said of one thing, so that what goes wrong over and over does
 * not fill a log. */
#ifndef EVSPACE_RATE_LIMIT_H
#define EVSPACE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/** All zero at first. */
struct rate_limit {
	unsigned spent;
	uint64_t since_ns;    /* CLOCK_MONOTONIC, from which on lines have been earned back */
	unsigned long unsaid; /* lines that were not said since the last one that was */
};

/**
 * May one more line be said? Ten at once may, then one more each minute. Those that may not are
 * counted; *@unsaid is how many were not said before this one.
 */
bool rate_limit_take(struct rate_limit *r, unsigned long *unsaid);

#endif
