/* SPDX-License-Identifier: BSD-3-Clause */
/* The element: a bounded sequence of tuples, one writer that never waits, any number of readers. */
#ifndef EVSPACE_ELEMENT_H
#define EVSPACE_ELEMENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/tuple.h"

/**
 * A ring in shared memory. The slots follow at once. `head` counts the tuples ever written; tuple n
 * is in slot n % capacity; the newest capacity - 1 are readable (the oldest slot may be in the
 * making). No reader leaves a trace in it. PastSet's element, with a discard threshold (the paper,
 * section 4.1).
 */
struct element_ring {
	_Atomic uint64_t head;
	char pad[56];
	struct tuple slots[];
};

/** A writer's private view of its ring: where the next tuple goes. */
struct element_writer {
	struct element_ring *ring;
	uint64_t head;
	uint32_t slot;
	uint32_t capacity;
};

/** Bytes that a ring of @capacity tuples takes, rounded up so that ring starts spread over the
 * cache. */
size_t element_ring_bytes(uint32_t capacity);

/** Start writing on a ring of @capacity >= 1 slots at its present head. */
void element_writer_init(struct element_writer *w, struct element_ring *ring, uint32_t capacity);

/** Append a tuple: relaxed 64-bit stores into the slot, then the head with release order (DESIGN
 * 5). */
static inline void element_write(struct element_writer *w, const struct tuple *tuple)
{
	_Atomic uint64_t *to = (_Atomic uint64_t *)(void *)&w->ring->slots[w->slot];
	const union {
		struct tuple tuple;
		uint64_t words[5];
	} *from = (const void *)tuple;

	for (int i = 0; i < 5; i++)
		atomic_store_explicit(&to[i], from->words[i], memory_order_relaxed);
	w->slot = w->slot + 1 == w->capacity ? 0 : w->slot + 1;
	atomic_store_explicit(&w->ring->head, ++w->head, memory_order_release);
	atomic_thread_fence(memory_order_release);
}

/** What one reading gave: tuples [first, first + count), and how many before them were overwritten.
 */
struct element_range {
	uint64_t first;
	uint32_t count;
	uint64_t lost;
};

/** The number of tuples ever written. @capacity is the segment's checked word, never the ring's. */
uint64_t element_head(const struct element_ring *ring);

/**
 * Copy the tuples [from, to) that still exist into @out (room for @max tuples), oldest first, and
 * say in @range which they are. Tuples that were overwritten, or may have been while copying, are
 * counted: range->lost = range->first - from always, and reading goes on at first + count (when
 * nothing is left below @to, that is where the head was). Never blocks, never retries: a writer
 * that laps costs tuples, not time. @capacity 1 holds nothing: all are lost (the overflow element).
 */
void element_read(const struct element_ring *ring, uint32_t capacity, uint64_t from, uint64_t to,
		  struct tuple *out, uint32_t max, struct element_range *range);

/**
 * Copy the newest tuple. Returns 1 and its number in *@number, or 0 when there is none (nothing was
 * written yet, or a writer lapped every one of a few tries).
 */
int element_latest(const struct element_ring *ring, uint32_t capacity, struct tuple *out,
		   uint64_t *number);

#endif
