/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts communicators into a segment's table, at its end or in the place of those that are freed. */
#include "node-agent/segment/segment-comm.h"

#include <stddef.h>

static struct segment_comm *table_of(struct segment *s)
{
	return (void *)((char *)s->header + s->layout.comms_at);
}

static uint32_t comms_used(const struct segment *s)
{
	return atomic_load_explicit(&s->header->comms, memory_order_relaxed);
}

static struct segment_comm *comm_find(struct segment *s, uint32_t id)
{
	struct segment_comm *table = table_of(s);

	for (uint32_t i = 0, n = comms_used(s); i < n; i++)
		if (atomic_load_explicit(&table[i].used, memory_order_acquire) && table[i].id == id)
			return &table[i];
	return NULL;
}

/* The entry at the end of the table, NULL: that is full. */
static struct segment_comm *comm_new(struct segment *s)
{
	uint32_t i = comms_used(s);

	do {
		if (i >= s->layout.comms_max)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->header->comms, &i, i + 1, memory_order_relaxed, memory_order_relaxed));
	return &table_of(s)[i];
}

/* The entry that was made first of those that are freed, NULL: none is. */
static struct segment_comm *comm_oldest(struct segment *s)
{
	struct segment_comm *table = table_of(s), *found = NULL;
	uint32_t oldest = 0;

	for (uint32_t i = 0; i < s->layout.comms_max; i++) {
		uint32_t made = atomic_load_explicit(&table[i].made, memory_order_relaxed);

		if (atomic_load_explicit(&table[i].left, memory_order_relaxed) &&
		    (!found || (int32_t)(made - oldest) < 0)) {
			found = &table[i];
			oldest = made;
		}
	}
	return found;
}

/* Take that entry for another one; readers see by its number that it is. */
static struct segment_comm *comm_again(struct segment *s)
{
	struct segment_comm *c;
	uint32_t left;

	/* who is faster has taken it: there are not more than other threads */
	do {
		c = comm_oldest(s);
		if (!c)
			return NULL;
		left = 1;
	} while (!atomic_compare_exchange_strong(&c->left, &left, 0));
	atomic_store_explicit(&c->used, 0, memory_order_relaxed);
	atomic_store_explicit(&c->made, 1 + atomic_fetch_add(&s->header->comms_remade, 1),
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return c;
}

void segment_comm_add(struct segment *s, uint32_t id, uint32_t parent, uint32_t size,
		      uint32_t members)
{
	struct segment_comm *c = comm_find(s, id);

	if (c)
		return;
	c = comm_new(s);
	if (!c)
		c = comm_again(s);
	if (!c) {
		atomic_fetch_or_explicit(&s->header->note, SEGMENT_NOTE_COMMS,
					 memory_order_relaxed);
		return;
	}
	c->id = id;
	c->parent = parent;
	c->size = size;
	c->members = members;
	atomic_store_explicit(&c->used, 1, memory_order_release);
}

void segment_comm_leave(struct segment *s, uint32_t id)
{
	struct segment_comm *c = id ? comm_find(s, id) : NULL;

	if (c)
		atomic_store_explicit(&c->left, 1, memory_order_release);
}
