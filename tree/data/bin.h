/* SPDX-License-Identifier: BSD-3-Clause */
/* A bin: how many values of tuples lie between two bounds; bins make log-linear histograms. */
#ifndef EVSPACE_BIN_H
#define EVSPACE_BIN_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/total.h"

/**
 * Each power of two is cut into this many bins of the same width, and values below it have a bin
 * each: whatever is told from a bin's middle is off by 1/32 (3.1 %) at most, from its bounds by
 * 1/16. All histograms have the same bounds, so that they merge exactly, in any order.
 */
#define BIN_STEPS 16u

/** Bins that a histogram can have: values are below 2^64. */
#define BIN_COUNT (BIN_STEPS * (64u - 4u) + BIN_STEPS)

/** One bin that is not empty, of one histogram. On the wire as it is. */
struct bin {
	uint64_t count;
	uint64_t sum;  /* of the values in it, exact */
	uint64_t most; /* the largest of them, exact */
	uint32_t comm; /* key: communicator, 0 if not by comm */
	uint16_t op;   /* key: operation, 0 if not by op */
	uint16_t slot; /* BIN_COUNT x enum total_value, plus the number of the bin */
};

_Static_assert(sizeof(struct bin) == 32, "a bin is 32 bytes");

/** The number of the bin that @value belongs to. */
unsigned bin_number(uint64_t value);

/** The smallest and the largest value of bin @number. */
uint64_t bin_low(unsigned number);
uint64_t bin_high(unsigned number);

/** Which value it is that the bin is of, and its number among those. */
static inline enum total_value bin_value(const struct bin *bin)
{
	return (enum total_value)(bin->slot / BIN_COUNT);
}

static inline unsigned bin_place(const struct bin *bin)
{
	return bin->slot % BIN_COUNT;
}

/** Of struct run_record; bins of one slot are merged. */
void bin_merge(void *into, const void *of);
bool bin_sound(const void *record);

#endif
