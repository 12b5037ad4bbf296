/* SPDX-License-Identifier: BSD-3-Clause */
/* A total: figures over many tuples that merge exactly in any order. */
#ifndef EVSPACE_TOTAL_H
#define EVSPACE_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

/** Which value of a tuple is folded. */
enum total_value { TOTAL_DURATION, TOTAL_BYTES, TOTAL_VALUES };

/** The figures of a total. All are always set; `fold` is the one that was asked for. */
enum total_fold {
	FOLD_COUNT,
	FOLD_SUM,
	FOLD_MIN,
	FOLD_MAX,
	FOLD_MEAN,
	FOLD_VARIANCE,
	FOLD_COUNT_OF_KINDS
};

/** Figures of a value (duration in ns, or bytes) of many tuples of one key. The layout is that on
 * the wire. */
struct total {
	uint64_t count;
	uint64_t sum;	 /* exact, in ns or bytes */
	double mean, m2; /* m2: sum of squared differences from the mean */
	uint64_t min, max;
	uint32_t comm; /* key: communicator, 0 if not by comm; by block, label: that (reduce.c) */
	uint16_t op;   /* key: operation, 0 if not by op */
	uint8_t value; /* enum total_value */
	uint8_t fold;  /* enum total_fold: the figure that was asked for */
};

_Static_assert(sizeof(struct total) == 56, "a total is 56 bytes");

/** Add a value to @t (zeroed at first, except for its key). Uses Welford's step for mean and m2. */
void total_add(struct total *t, uint64_t value);

/**
 * Merge the figures of @of into @into; the caller compares keys. Count, sum, min and max are exact;
 * mean and m2 are merged by the formula of Chan, Golub and LeVeque (1979), as exact as doubles.
 */
void total_merge(void *into, const void *of);

/** A number by which totals of one figure are ordered as by that figure. */
uint64_t total_rank(const struct total *t);

/** Is this record from a peer a valid total? */
bool total_sound(const void *total);

/** The figure's keyword ("variance"), "?" if unknown; and back, or -1. */
const char *total_fold_name(unsigned fold);
int total_fold_find(const char *name);

/** The value's keyword ("duration", "bytes"), "?" if unknown; and back, or -1. */
const char *total_value_name(unsigned value);
int total_value_find(const char *name);

#endif
