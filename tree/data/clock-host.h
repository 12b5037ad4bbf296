/* SPDX-License-Identifier: BSD-3-Clause */
/* What may go wrong with this host's ticks: a host sleeps. */
#ifndef EVSPACE_CLOCK_HOST_H
#define EVSPACE_CLOCK_HOST_H

#include "tree/data/clock.h"

/** This host's clock for those who relate ticks to time for long. */
struct clock_host {
	struct clock_pair born; /* the far end of lines, of clock_kind() */
	uint64_t woke_ns;	/* CLOCK_MONOTONIC when it last woke, 0: it never slept */
	uint64_t slept_ns;	/* how long it had slept in all until @born */
};

/** From now on. */
void clock_host_init(struct clock_host *host);

/** How long this host has been suspended since it booted: CLOCK_BOOTTIME goes on then. */
uint64_t clock_host_slept_ns(void);

/**
 * @slept_ns (clock_host_slept_ns()) and @now were taken just now. Has the host been suspended since
 * @host->born? Then CLOCK_MONOTONIC stood still, and the TSC has gone on, stood still or begun
 * anew: ticks of before say nothing of those that follow, and lines begin at @now. Returns for how
 * long it slept, in ns; 0: it did not.
 */
uint64_t clock_host_check(struct clock_host *host, uint64_t slept_ns, struct clock_pair now);

/** The better far end for a line: the older one of @born and @other, if the host has not slept
 * since. */
static inline struct clock_pair clock_host_older(const struct clock_host *host,
						 struct clock_pair born, struct clock_pair other)
{
	return other.mono_ns < born.mono_ns && other.mono_ns >= host->woke_ns ? other : born;
}

#endif
