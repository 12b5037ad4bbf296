/* SPDX-License-Identifier: BSD-3-Clause */
/* Accounts: what became of the tuples that a process has written, by its elements as they are
 * now. */
#ifndef EVSPACE_ACCOUNTING_H
#define EVSPACE_ACCOUNTING_H

#include <stdint.h>

#include "node-agent/segment/segment.h"

/** All channels, and also the overflow element, which is of no channel. */
#define ACCOUNTING_ALL UINT32_MAX

/** Tuples. Plain data. */
struct accounting {
	uint64_t written;   /* ever: held + discarded + overwritten + lost */
	uint64_t held;	    /* still in elements */
	uint64_t discarded; /* on request, or by their lifetime, and not overwritten before */
	uint64_t lost;	    /* without room in any element */
};

/** Tuples that were overwritten in elements. */
static inline uint64_t accounting_overwritten(const struct accounting *h)
{
	return h->written - h->held - h->discarded - h->lost;
}

/** The first tuple that element @i, which is @e with @ring, has left: neither overwritten nor
 * discarded on request, and its lifetime is not over; @head: none has. */
uint64_t accounting_first(const struct segment *s, uint32_t i, const struct segment_element *e,
			  const struct element_ring *ring, uint64_t head);

/**
 * Add what the elements of @channels (bits) of @s hold to @sum. Returns 0, or -1 with errno when
 * the segment cannot be read; then @sum is unchanged.
 */
int accounting_read(const struct segment *s, uint32_t channels, struct accounting *sum);

#endif
