/* SPDX-License-Identifier: BSD-3-Clause */
/* The only writer of an element: never waits, and does not know its readers. */
#ifndef EVSPACE_ELEMENT_WRITER_H
#define EVSPACE_ELEMENT_WRITER_H

#include "node-agent/segment/element.h"

/** A writer's private view of its ring: where the next tuple goes. */
struct element_writer {
	struct element_ring *ring;
	struct tuple *next;	  /* == end: the first slot is next */
	const struct tuple *stop; /* it, or one before it: who writes there goes out of line */
	const struct tuple *end;  /* after the last slot */
};

/** Start writing on a ring of @capacity >= 1 slots at its present head. */
static inline void element_writer_init(struct element_writer *w, struct element_ring *ring,
				       uint32_t capacity)
{
	w->ring = ring;
	w->next = &ring->slots[atomic_load_explicit(&ring->head, memory_order_relaxed) % capacity];
	w->stop = w->end = &ring->slots[capacity];
}

/** Two 32-bit fields as one word, in memory order. */
static inline uint64_t element_word(uint32_t first, uint32_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return first | (uint64_t)second << 32;
#else
	return second | (uint64_t)first << 32;
#endif
}

/** Two 16-bit fields, likewise. */
static inline uint32_t element_half(uint16_t first, uint16_t second)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return first | (uint32_t)second << 16;
#else
	return second | (uint32_t)first << 16;
#endif
}

/** Append a tuple, given as words; w->next must be a slot. Stores the words relaxed, then the
 * head with release order (docs/decisions/0001-ring-without-locks.md). */
static inline __attribute__((always_inline)) void element_put(struct element_writer *w,
							      uint64_t start, uint64_t end,
							      uint64_t bytes, uint64_t whom,
							      uint64_t what)
{
	_Atomic uint64_t *to = (_Atomic uint64_t *)(void *)w->next;
	_Atomic uint64_t *head = &w->ring->head;

	atomic_store_explicit(&to[0], start, memory_order_relaxed);
	atomic_store_explicit(&to[1], end, memory_order_relaxed);
	atomic_store_explicit(&to[2], bytes, memory_order_relaxed);
	atomic_store_explicit(&to[3], whom, memory_order_relaxed);
	atomic_store_explicit(&to[4], what, memory_order_relaxed);
	w->next++;
	atomic_store_explicit(head, atomic_load_explicit(head, memory_order_relaxed) + 1,
			      memory_order_release);
	atomic_thread_fence(memory_order_release);
}

/** Append a tuple. */
static inline void element_write(struct element_writer *w, const struct tuple *t)
{
	if (w->next == w->end)
		w->next = w->ring->slots;
	element_put(w, t->start, t->end, t->bytes, element_word((uint32_t)t->peer, t->seq_or_tag),
		    element_word(t->comm, element_half(t->op, t->flags)));
}

#endif
