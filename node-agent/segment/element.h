/* SPDX-License-Identifier: BSD-3-Clause */
/* The element: a bounded sequence of tuples, one writer that never waits (element-writer.h), any
 * number of readers. */
#ifndef EVSPACE_ELEMENT_H
#define EVSPACE_ELEMENT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tree/data/tuple.h"

/**
 * A ring in shared memory, directly followed by its slots. `head` counts the tuples ever written;
 * tuple n is in slot n % capacity; the newest capacity - 1 are readable (the oldest slot may be
 * being overwritten). Readers write nothing. It is PastSet's element, with a discard threshold (the
 * paper, section 4.1).
 */
struct element_ring {
	_Atomic uint64_t head;
	char pad[56];
	struct tuple slots[];
};

/** Bytes of a ring of @capacity tuples, rounded up so that ring starts spread over the cache. */
size_t element_ring_bytes(uint32_t capacity);

/** The result of one read: tuples [first, first + count), and how many before them were
 * overwritten. */
struct element_range {
	uint64_t first;
	uint32_t count;
	uint64_t lost;
};

/** The factor by which element_slot() avoids a division by @capacity (Lemire, Kaser, Kurz 2019). */
static inline uint64_t element_inverse(uint32_t capacity)
{
	return capacity ? UINT64_MAX / capacity + 1 : 0;
}

/** @number % @capacity without a division, which would take most of the time of reading one
 * ring. @inverse is element_inverse() of the capacity. */
static inline uint32_t element_slot(uint64_t number, uint32_t capacity, uint64_t inverse)
{
#if defined(__SIZEOF_INT128__)
	if (__builtin_expect(number <= UINT32_MAX && capacity > 1, 1))
		return (uint32_t)((unsigned __int128)(inverse * number) * capacity >> 64);
#endif
	return (uint32_t)(number % capacity);
}

/** The number of tuples ever written. */
uint64_t element_head(const struct element_ring *ring);

/**
 * Copy the tuples [from, to) that still exist into @out (room for @max tuples), oldest first, and
 * set @range to what was copied. Tuples that were overwritten, or may have been while copying, are
 * counted: range->lost == range->first - from always. The next read starts at first + count, which
 * is the head if nothing is left below @to. Never blocks, never retries: a writer that laps the
 * reader costs tuples, not time. An element of @capacity 1 holds nothing: all its tuples are lost
 * (the overflow element).
 */
void element_read(const struct element_ring *ring, uint32_t capacity, uint64_t from, uint64_t to,
		  struct tuple *out, uint32_t max, struct element_range *range);

/** How often element_latest() tries again when the writer laps it. */
#define ELEMENT_TRIES 4

/** Copy a tuple word by word, since it may be written meanwhile. No loop: compilers keep it. */
static inline void element_copy(struct tuple *to, const struct tuple *from)
{
	const _Atomic uint64_t *words = (const _Atomic uint64_t *)(const void *)from;
	const uint64_t copy[] = {
		atomic_load_explicit(&words[0], memory_order_relaxed),
		atomic_load_explicit(&words[1], memory_order_relaxed),
		atomic_load_explicit(&words[2], memory_order_relaxed),
		atomic_load_explicit(&words[3], memory_order_relaxed),
		atomic_load_explicit(&words[4], memory_order_relaxed),
	};

	_Static_assert(sizeof(copy) == sizeof(*to), "all words of a tuple");
	memcpy(to, copy, sizeof(copy));
}

/**
 * Copy the newest tuple; @inverse is element_inverse(@capacity). Returns 1 and its number in
 * *@number, or 0: nothing was written yet, or the writer lapped each of ELEMENT_TRIES tries.
 * Inline, because it is called for every element of every wave.
 */
static inline int element_latest(const struct element_ring *ring, uint32_t capacity,
				 uint64_t inverse, struct tuple *out, uint64_t *number)
{
	for (int i = 0; i < ELEMENT_TRIES; i++) {
		uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

		if (head == 0 || capacity < 2)
			return 0;
		element_copy(out, &ring->slots[element_slot(head - 1, capacity, inverse)]);
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&ring->head, memory_order_relaxed) - head < capacity - 1) {
			*number = head - 1;
			return 1;
		}
	}
	return 0;
}

#endif
