/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads rings while another process writes them; computes their sizes. */
#include "node-agent/segment/element.h"

#include <string.h>

#define CACHE_LINE 64u

size_t element_ring_bytes(uint32_t capacity)
{
	size_t bytes = sizeof(struct element_ring) + (size_t)capacity * sizeof(struct tuple);
	size_t lines = (bytes + CACHE_LINE - 1) / CACHE_LINE;

	/* an odd number of cache lines, so that consecutive rings start in different cache sets */
	return (lines | 1) * CACHE_LINE;
}

uint64_t element_head(const struct element_ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire);
}

/* The oldest tuple that a writer at @head cannot be overwriting. */
static uint64_t oldest_readable(uint64_t head, uint32_t capacity)
{
	return head >= capacity ? head - (capacity - 1) : 0;
}

void element_read(const struct element_ring *ring, uint32_t capacity, uint64_t from, uint64_t to,
		  struct tuple *out, uint32_t max, struct element_range *range)
{
	uint64_t head = element_head(ring), first = from, gone;
	uint32_t n, slot;

	*range = (struct element_range){.first = from};
	if (to > head)
		to = head;
	if (capacity == 0 || from >= to)
		return;
	if (first < oldest_readable(head, capacity))
		first = oldest_readable(head, capacity);
	if (first > to)
		first = to;
	n = to - first < max ? (uint32_t)(to - first) : max;
	slot = (uint32_t)(first % capacity);
	for (uint32_t i = 0; i < n; i++) {
		element_copy(&out[i], &ring->slots[slot]);
		slot = slot + 1 == capacity ? 0 : slot + 1;
	}
	/* pairs with the fence in element_write(): after reading a new word, the head before it
	 * is visible */
	atomic_thread_fence(memory_order_acquire);
	gone = oldest_readable(atomic_load_explicit(&ring->head, memory_order_relaxed), capacity);
	if (gone > first) {
		uint32_t drop = gone - first < n ? (uint32_t)(gone - first) : n;

		memmove(out, out + drop, (size_t)(n - drop) * sizeof(*out));
		first += drop;
		n -= drop;
	}
	range->first = first;
	range->count = n;
	range->lost = first - from;
}
