/* SPDX-License-Identifier: BSD-3-Clause */
/* Stamps: events that say themselves when they were, by the kernel's clock, whatever clock their
 * host shows (tests/preload/skew.c): what times a consumer sees can be compared with that. */
#ifndef EVSPACE_TESTS_STAMPS_H
#define EVSPACE_TESTS_STAMPS_H

#include <stdint.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/error.h"

/** CLOCK_MONOTONIC of the kernel, which no preloaded clock changes. */
uint64_t stamps_kernel_ns(void);

/** Be rank @rank of @ranks of a run, whose folder is @folder, and write @hz stamps a second for
 * @seconds, or until a signal ends the process. Returns 0, or -1 with @e. */
int stamps_write(const char *folder, int rank, int ranks, double hz, double seconds,
		 struct error *e);

/** Ranks that are compared. */
#define STAMPS_RANKS 4

/** What became of the stamps of a rank. */
struct stamps {
	uint64_t n, within;
	double bound_ns; /* median bound of their error */
	double off_ns;	 /* the farthest that one was out of its bound */
};

/**
 * Look at stamps for @seconds with @look, a stream. The first rank's host has the entry's clock:
 * its times say when the kernel's clock was 0. Returns 0, or -1 with @e, also if none of the first
 * two ranks came.
 */
int stamps_check(const struct evspace_options *look, double seconds,
		 struct stamps stamps[STAMPS_RANKS], struct error *e);

#endif
