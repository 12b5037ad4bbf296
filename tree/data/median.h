/* SPDX-License-Identifier: BSD-3-Clause */
/* A median on its way up: all bins of its values, and a mark on the bin with the median. */
#ifndef EVSPACE_MEDIAN_H
#define EVSPACE_MEDIAN_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/bin.h"

/** One bin that is not empty, of all values of one name and key. All these bins are sent, in order,
 * so that medians from below merge exactly. The layout is that on the wire. */
struct median {
	struct bin bin;
	uint64_t all; /* number of all values, in the bin with the median; else 0 */
};

_Static_assert(sizeof(struct median) == 40, "a median is 40 bytes");

/** The median as shown: the middle of its bin. Exact below 2 * BIN_STEPS, else off by 1/32 (3.1 %)
 * at most. */
static inline uint64_t median_value(const struct median *median)
{
	uint64_t low = bin_low(bin_place(&median->bin)), high = bin_high(bin_place(&median->bin));
	uint64_t middle = low + (high - low) / 2;

	return middle < median->bin.most ? middle : median->bin.most;
}

/** For struct run_record, with bin_merge(). */
static inline bool median_sound(const void *record)
{
	const struct median *median = record;

	return bin_sound(&median->bin) && (median->all == 0 || median->all >= median->bin.count);
}

#endif
