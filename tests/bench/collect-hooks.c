/* SPDX-License-Identifier: BSD-3-Clause */
/* What a hook of a function costs that is off, while as many others are on as there can be. */
#include "node-agent/collect/core/hooks.h"

#include <stdint.h>

#include "tests/bench/collect-case.h"
#include "tree/data/clock.h"

enum { CALLS = 10000, FUNCTIONS = 200 };

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

static struct segment_functions page;

/* Addresses as those of functions of a large program. */
static uintptr_t function_at(uint64_t i)
{
	return (uintptr_t)(UINT64_C(0x555555555000) + i * 176);
}

/* The i-th one that is off, and that no other one has on by chance: that is another cost, of one in
 * a hundred. */
static uintptr_t offs[FUNCTIONS];

static void on_fill(void)
{
	uint64_t i = 0, n = 0;

	for (; i < SEGMENT_FUNCTIONS; i++)
		(void)segment_function_switch(&page, "f", function_at(i), UINT64_MAX, 0);
	for (; n < FUNCTIONS; i++)
		if (!segment_function_may(&page, function_at(i)))
			offs[n++] = function_at(i);
}

static void no_record(const char *name, size_t length, struct hook_open *opens, uint64_t frame,
		      int begin)
{
	(void)name;
	(void)length;
	(void)opens;
	(void)frame;
	(void)begin;
}

static double nothing_called(void)
{
	uint64_t ns = clock_mono_ns();

	for (uint64_t i = 0; i < CALLS; i += 2) {
		__asm__ volatile("" : : "r"(offs[i % FUNCTIONS]) : "memory");
		__asm__ volatile("" : : "r"(i) : "memory");
	}
	return (double)(clock_mono_ns() - ns) / CALLS;
}

/* By pointers, as the program's calls go by the table of the linker. */
static double called(void)
{
	void (*volatile pointers[])(void *, void *) = {__cyg_profile_func_enter,
						       __cyg_profile_func_exit};
	uint64_t ns = clock_mono_ns();

	for (uint64_t i = 0; i < CALLS; i += 2) {
		pointers[0]((void *)offs[i % FUNCTIONS], NULL);
		pointers[1]((void *)offs[i % FUNCTIONS], NULL);
	}
	return (double)(clock_mono_ns() - ns) / CALLS;
}

static double added(void)
{
	double ns = called() - nothing_called();

	return ns > 0 ? ns : 0;
}

static double two_ns(void)
{
	return 2;
}

int collect_hooks_case(const struct collect_case *c, struct error *e)
{
	(void)e;
	collect_pin(1);
	on_fill();
	evspace_door_hooks(&page, no_record);
	collect_report(c, NULL, pairs_measure(added, two_ns, collect_pairs()));
	return 0;
}
