/* SPDX-License-Identifier: BSD-3-Clause */
/* A median on its way up: the bins of what it is of, one of them marked as the one that it lies in.
 */
#ifndef EVSPACE_MEDIAN_H
#define EVSPACE_MEDIAN_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/bin.h"

/**
 * A bin that is not empty, of all values of one name and key: all of these are there, so that
 * medians from below merge exactly. Those of one name are in the order of their bins. On the wire
 * as it is.
 */
struct median {
	struct bin bin;
	uint64_t all; /* where the median lies in this bin: how many values it is of; else 0 */
};

_Static_assert(sizeof(struct median) == 40, "a median is 40 bytes");

/** What the median is said to be: the middle of its bin. Exact below 2 * BIN_STEPS, else off by
 * 1/32 (3.1 %) at most. */
static inline uint64_t median_value(const struct median *median)
{
	uint64_t low = bin_low(bin_place(&median->bin)), high = bin_high(bin_place(&median->bin));
	uint64_t middle = low + (high - low) / 2;

	return middle < median->bin.most ? middle : median->bin.most;
}

/** Of struct run_record, as bin_merge(). */
static inline bool median_sound(const void *record)
{
	const struct median *median = record;

	return bin_sound(&median->bin) && (median->all == 0 || median->all >= median->bin.count);
}

#endif
