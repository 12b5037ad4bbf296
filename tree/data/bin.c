/* SPDX-License-Identifier: BSD-3-Clause */
/* Bins: bounds, merging, checks of bins from peers. */
#include "tree/data/bin.h"

/* log2(BIN_STEPS) */
#define STEP_BITS 4u

/* Bounds counts from peers, so that merged ones pass the next host's check. */
#define COUNT_MOST (UINT64_C(1) << 62)

unsigned bin_number(uint64_t value)
{
	unsigned power;

	if (value < BIN_STEPS)
		return (unsigned)value;
	power = 63u - (unsigned)__builtin_clzll(value);
	return BIN_STEPS * (power - STEP_BITS) + (unsigned)(value >> (power - STEP_BITS));
}

uint64_t bin_low(unsigned number)
{
	unsigned shift;

	if (number < 2 * BIN_STEPS)
		return number;
	shift = number / BIN_STEPS - 1;
	return (uint64_t)(BIN_STEPS + number % BIN_STEPS) << shift;
}

uint64_t bin_high(unsigned number)
{
	if (number + 1 >= BIN_COUNT)
		return UINT64_MAX;
	return bin_low(number + 1) - 1;
}

void bin_merge(void *into, const void *of)
{
	struct bin *to = into;
	const struct bin *from = of;

	to->count = to->count + from->count < COUNT_MOST ? to->count + from->count : COUNT_MOST;
	to->sum += from->sum;
	if (from->most > to->most)
		to->most = from->most;
}

bool bin_sound(const void *record)
{
	const struct bin *bin = record;

	return bin->slot < TOTAL_VALUES * BIN_COUNT && bin->count > 0 && bin->count <= COUNT_MOST &&
	       bin_number(bin->most) == bin_place(bin);
}
