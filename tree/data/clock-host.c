/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out by CLOCK_BOOTTIME that the host slept. */
#include "tree/data/clock-host.h"

#include <time.h>

/** A shorter difference is the time between two reads of the clocks. */
#define SLEEP_LEAST_NS 50000000u

/* Takes the best of a few tries: the one with the least time between the two clocks. */
uint64_t clock_host_slept_ns(void)
{
	uint64_t most = 0;

	for (int i = 0; i < 3; i++) {
		struct timespec t;
		uint64_t boot, mono;

		if (clock_gettime(CLOCK_BOOTTIME, &t) < 0)
			return 0;
		boot = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		mono = clock_mono_ns();
		if (boot > mono && boot - mono > most)
			most = boot - mono;
	}
	return most;
}

void clock_host_init(struct clock_host *host)
{
	*host = (struct clock_host){
		.born = clock_pair_take(clock_kind()),
		.slept_ns = clock_host_slept_ns(),
	};
}

uint64_t clock_host_check(struct clock_host *host, uint64_t slept_ns, struct clock_pair now)
{
	uint64_t ns = slept_ns > host->slept_ns ? slept_ns - host->slept_ns : 0;

	if (ns < SLEEP_LEAST_NS)
		return 0;
	*host = (struct clock_host){.born = now, .woke_ns = now.mono_ns, .slept_ns = slept_ns};
	return ns;
}
