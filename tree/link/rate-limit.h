/* SPDX-License-Identifier: BSD-3-Clause */
/* A rate limit: how many lines may be logged about one thing, so that repeated trouble does not
 * fill a log. */
#ifndef EVSPACE_RATE_LIMIT_H
#define EVSPACE_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/** All zero at first. */
struct rate_limit {
	unsigned spent;
	uint64_t since_ns;    /* CLOCK_MONOTONIC of the last regained line */
	unsigned long unsaid; /* lines dropped since the last one that was logged */
};

/** May one more line be logged? Ten may at once, then one each minute. Others are counted: *@unsaid
 * is the number dropped before this one. */
bool rate_limit_take(struct rate_limit *r, unsigned long *unsaid);

/** Limits of peers by name, so that none silences what is said of another. */
#define RATE_LIMIT_PEERS 64
#define RATE_LIMIT_NAME	 128

/** All zero at first. */
struct rate_limits {
	struct {
		char name[RATE_LIMIT_NAME];
		struct rate_limit limit;
	} of[RATE_LIMIT_PEERS];
	struct rate_limit others; /* for whom there is no room */
};

/** The limit of that peer. Who has earned all lines back makes room for another one;
 * what was not said of it is counted with the others. */
struct rate_limit *rate_limit_of(struct rate_limits *all, const char *name);

#endif
