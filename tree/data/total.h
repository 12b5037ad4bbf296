/* SPDX-License-Identifier: BSD-3-Clause */
/* A total: what many tuples come to, in figures that merge exactly in any order. */
#ifndef EVSPACE_TOTAL_H
#define EVSPACE_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

/** Which value of a tuple is folded. */
enum total_value { TOTAL_DURATION, TOTAL_BYTES, TOTAL_VALUES };

/** The figures of a total. All are always there; `fold` says which one was asked for. */
enum total_fold {
	FOLD_COUNT,
	FOLD_SUM,
	FOLD_MIN,
	FOLD_MAX,
	FOLD_MEAN,
	FOLD_VARIANCE,
	FOLD_COUNT_OF_KINDS
};

/** A fold of many tuples' value (duration in ns, or bytes) under one key. On the wire as it is. */
struct total {
	uint64_t count;
	uint64_t sum;	 /* exact, in ns or bytes */
	double mean, m2; /* m2: sum of squared differences from the mean */
	uint64_t min, max;
	uint32_t comm; /* key: communicator, 0 if not by comm */
	uint16_t op;   /* key: operation, 0 if not by op */
	uint8_t value; /* enum total_value */
	uint8_t fold;  /* enum total_fold: which of the figures was asked for */
};

_Static_assert(sizeof(struct total) == 56, "a total is 56 bytes");

/** Put one more value into @t (zeroed at first, but for its key). Welford's step for mean and m2.
 */
void total_add(struct total *t, uint64_t value);

/**
 * Merge the figures of the total @of into the total @into; the keys stay the caller's affair.
 * Count, sum, min and max are exact, mean and m2 are merged by the formula of Chan, Golub and
 * LeVeque (1979), as exact as doubles.
 */
void total_merge(void *into, const void *of);

/** Could these numbers be a total? For what came over the wire. */
bool total_sound(const void *total);

/** The figure's keyword ("variance"), "?" for a number that is none; and back, or -1. */
const char *total_fold_name(unsigned fold);
int total_fold_find(const char *name);

/** The value's keyword ("duration", "bytes"), "?" for a number that is none; and back, or -1. */
const char *total_value_name(unsigned value);
int total_value_find(const char *name);

#endif
