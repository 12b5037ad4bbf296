/* SPDX-License-Identifier: BSD-3-Clause */
/* A count: what a class of operations has counted since its program began, exact and cumulative. */
#ifndef EVSPACE_COUNT_H
#define EVSPACE_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/op.h"

/** The channel of a count that is not by channel. */
#define COUNT_ALL_CHANNELS UINT16_MAX

/** The counts of a class (operation group x communicator), of a thread or summed up. The layout is
 * that on the wire. Rates are the difference between two waves, so a lost wave costs nothing. */
struct count {
	uint64_t calls, bytes;
	uint64_t time_ns; /* in calls made while their class was in mode `time` */
	uint64_t skipped; /* calls without a tuple, because of their class's mode */
	uint32_t comm;	  /* id; 0: unknown, or not by communicator */
	uint16_t channel; /* enum channel, or COUNT_ALL_CHANNELS */
	uint16_t pad;
};

_Static_assert(sizeof(struct count) == 40, "a count is 40 bytes");

/** For struct run_record. */
static inline void count_merge(void *into, const void *of)
{
	struct count *to = into;
	const struct count *from = of;

	to->calls += from->calls;
	to->bytes += from->bytes;
	to->time_ns += from->time_ns;
	to->skipped += from->skipped;
}

static inline bool count_sound(const void *record)
{
	const struct count *count = record;

	return (count->channel < CHANNEL_MAX || count->channel == COUNT_ALL_CHANNELS) &&
	       count->pad == 0;
}

#endif
