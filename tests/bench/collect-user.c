/* SPDX-License-Identifier: BSD-3-Clause */
/* What evspace.h costs in a program that nobody watches: this one. */
#include "node-agent/collect/core/evspace.h"

#include <stdint.h>

#include "tests/bench/collect-case.h"
#include "tree/data/clock.h"

enum { CALLS = 9999 };

static double nothing_said(void)
{
	uint64_t ns = clock_mono_ns();

	for (uint64_t i = 0; i < CALLS; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
	return (double)(clock_mono_ns() - ns) / CALLS;
}

/* Each of the three functions as often as the others; the loop itself is not theirs. */
static double said(void)
{
	uint64_t ns = clock_mono_ns();

	for (uint64_t i = 0; i < CALLS; i += 3) {
		evspace_region("region", EVSPACE_BEGIN);
		__asm__ volatile("" : : "r"(i) : "memory");
		evspace_phase("phase");
		__asm__ volatile("" : : "r"(i) : "memory");
		evspace_iteration(i);
		__asm__ volatile("" : : "r"(i) : "memory");
	}
	return (double)(clock_mono_ns() - ns) / CALLS;
}

static double added(void)
{
	double ns = said() - nothing_said();

	return ns > 0 ? ns : 0;
}

static double two_ns(void)
{
	return 2;
}

int collect_user_case(const struct collect_case *c, struct error *e)
{
	(void)e;
	collect_pin(1);
	collect_report(c, NULL, pairs_measure(added, two_ns, collect_pairs()));
	return 0;
}
