/* SPDX-License-Identifier: BSD-3-Clause */
/* A bin: how many values of tuples lie between two bounds. Bins make log-linear histograms. */
#ifndef EVSPACE_BIN_H
#define EVSPACE_BIN_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/total.h"

/**
 * Each power of two is cut into this many bins of the same width; smaller values have a bin each.
 * So the middle of a bin is off by 1/32 (3.1 %) at most, a bound by 1/16. All histograms have the
 * same bounds, so that they merge exactly, in any order.
 */
#define BIN_STEPS 16u

/** Bins of a histogram: values are below 2^64. */
#define BIN_COUNT (BIN_STEPS * (64u - 4u) + BIN_STEPS)

/** One bin that is not empty, of one histogram. The layout is that on the wire. */
struct bin {
	uint64_t count;
	uint64_t sum;  /* of its values, exact */
	uint64_t most; /* the largest of its values, exact */
	uint32_t comm; /* key: communicator, 0 if not by comm */
	uint16_t op;   /* key: operation, 0 if not by op */
	uint16_t slot; /* BIN_COUNT x enum total_value + the bin's number */
};

_Static_assert(sizeof(struct bin) == 32, "a bin is 32 bytes");

/** The number of the bin with @value. */
unsigned bin_number(uint64_t value);

/** The smallest and the largest value of bin @number. */
uint64_t bin_low(unsigned number);
uint64_t bin_high(unsigned number);

/** Which value of tuples the bin counts. */
static inline enum total_value bin_value(const struct bin *bin)
{
	return (enum total_value)(bin->slot / BIN_COUNT);
}

/** The bin's number in its histogram. */
static inline unsigned bin_place(const struct bin *bin)
{
	return bin->slot % BIN_COUNT;
}

/** For struct run_record. Only bins with the same slot may be merged. */
void bin_merge(void *into, const void *of);
bool bin_sound(const void *record);

#endif
