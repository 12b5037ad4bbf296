/* SPDX-License-Identifier: BSD-3-Clause */
/* A meet: what the members of one collective operation have done, as far as they are known, in a
 * record that merges exactly in any order. */
#ifndef EVSPACE_MEET_H
#define EVSPACE_MEET_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/clock.h"
#include "tree/data/tuple.h"

/** Flags of a meet. */
enum meet_flag {
	MEET_HOSTS = 1 << 0, /* its members are on several hosts, or may be */
	MEET_MIXED = 1 << 1, /* they called different operations; `op` is one of them */
};

/**
 * Some members' parts in operation `number` of `comm`. Times are ticks of the part that the record
 * is in, as those of tuples are. Two of them are off from each other by no more than twice that
 * part's error, and by nothing without MEET_HOSTS. The layout is that on the wire.
 */
struct meet {
	uint64_t start;	       /* the first one */
	uint64_t before, last; /* the last start but one, and the last one; of one member `start` */
	uint64_t end, last_end; /* the first and the last one */
	uint64_t waited;	/* sum of the times from each start to `last` */
	uint64_t bytes;		/* of all together */
	uint32_t comm, number;
	uint32_t count;	   /* members that have come */
	uint32_t who;	   /* name of the element of the one that started last */
	int32_t signature; /* tree/data/signature.h; TUPLE_NO_PEER if they differ */
	uint16_t op;
	uint8_t magnitude; /* no member had 2^magnitude bytes */
	uint8_t flags;
};

_Static_assert(sizeof(struct meet) == 80, "a meet is 80 bytes");

/** Make @meet of one member's @tuple, which the element with the name @who has. Returns false if
 * it is no collective that has ended, with a number that all members have. */
bool meet_take(struct meet *meet, const struct tuple *tuple, uint32_t who);

/** Convert its ticks to nanoseconds of event-space time by @line. */
void meet_to_ns(struct meet *meet, const struct clock_line *line);

/** For struct run_record. Both have the same comm and number, and ticks of one clock. */
void meet_merge(void *into, const void *of);
bool meet_sound(const void *record);

#endif
