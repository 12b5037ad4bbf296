/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of this host over a long time, in which it may have been suspended. */
#ifndef EVSPACE_CLOCK_HOST_H
#define EVSPACE_CLOCK_HOST_H

#include <stdint.h>

#include "tree/data/clock.h"

/** The clock of this host, for long-running processes that convert ticks to time. */
struct clock_host {
	struct clock_pair born; /* the far end of lines, in ticks of clock_kind() */
	uint64_t woke_ns;	/* CLOCK_MONOTONIC when it last woke, 0: it never slept */
	uint64_t slept_ns;	/* time it had slept until @born */
};

/** Start now. */
void clock_host_init(struct clock_host *host);

/** Time that this host was suspended since it booted, by CLOCK_BOOTTIME, which then goes on. */
uint64_t clock_host_slept_ns(void);

/**
 * Was the host suspended since @host->born? @slept_ns (clock_host_slept_ns()) and @now were taken
 * just now. While it sleeps, CLOCK_MONOTONIC stands still, and the TSC may go on, stop or start
 * again, so earlier ticks say nothing about later ones, and lines begin at @now. Returns the time
 * that it slept in ns, or 0.
 */
uint64_t clock_host_check(struct clock_host *host, uint64_t slept_ns, struct clock_pair now);

/** The better far end for a line: @other if it is older than @born and the host has not slept
 * since, else @born. */
static inline struct clock_pair clock_host_older(const struct clock_host *host,
						 struct clock_pair born, struct clock_pair other)
{
	return other.mono_ns < born.mono_ns && other.mono_ns >= host->woke_ns ? other : born;
}

#endif
