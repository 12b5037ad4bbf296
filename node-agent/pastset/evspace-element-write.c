/* SPDX-License-Identifier: BSD-3-Clause */
/* Appends tuples to a program's element, and waits for readers where that is asked for. */
#include "node-agent/pastset/element-handle.h"

#include <errno.h>
#include <string.h>

#include "node-agent/pastset/pastset-claim.h"
#include "node-agent/pastset/pastset-sleep.h"

/* The part of a reader that has ended is free again. Who takes it meanwhile has its lock. */
static bool reader_drop(struct evspace_element *e, unsigned part)
{
	if (pastset_claim(e->file.fd, part) < 0)
		return false;
	atomic_store_explicit(&e->file.readers[part].next, 0, memory_order_relaxed);
	pastset_unclaim(e->file.fd, part);
	return true;
}

/* How far it may write until it must look again: while the slowest reader, or who comes meanwhile,
 * still has its oldest tuple. @drop: readers that have ended do not count. */
static uint64_t limit_find(struct evspace_element *e, bool drop)
{
	uint64_t slowest = e->head, oldest = pastset_oldest(&e->file, e->head);

	for (unsigned i = 0; i < PASTSET_READERS; i++) {
		uint64_t next = atomic_load(&e->file.readers[i].next);

		/* nobody can have read what is not written */
		if (next == 0 || next - 1 >= slowest)
			continue;
		if (next - 1 <= oldest && drop && reader_drop(e, i))
			continue;
		slowest = next - 1;
	}
	/* whatever it says, it cannot read what is gone */
	return (slowest < oldest ? oldest : slowest) + e->file.said.capacity;
}

/* A full element. Returns 0 when a tuple may be written. */
static int room_wait(struct evspace_element *e)
{
	struct pastset_live *live = e->file.live;
	uint64_t until;

	if (!element_writes(e)) {
		errno = EBADF;
		return -1;
	}
	e->limit = limit_find(e, false);
	if (e->head < e->limit)
		return 0;
	until = pastset_until(e->file.said.wait_ms);
	for (;;) {
		atomic_store(&live->full, 1);
		e->limit = limit_find(e, true);
		if (e->head < e->limit)
			return 0;
		if (pastset_sleep(&live->full, 1, until) < 0)
			return -1;
	}
}

/* Relaxed words, then the head with release order (docs/decisions/0001-ring-without-locks.md). */
static void tuple_put(struct evspace_element *e, const void *tuple)
{
	_Atomic uint64_t *to = (_Atomic uint64_t *)(void *)e->next;
	const char *from = tuple;
	uint64_t word;

	atomic_store_explicit(to++, clock_ticks((enum clock_kind)e->file.said.clock_kind),
			      memory_order_relaxed);
	for (uint32_t i = 0; i < e->words; i++, from += sizeof(word)) {
		memcpy(&word, from, sizeof(word));
		atomic_store_explicit(to++, word, memory_order_relaxed);
	}
	if (e->rest) {
		word = 0;
		memcpy(&word, from, e->rest);
		atomic_store_explicit(to++, word, memory_order_relaxed);
	}
	e->next = (char *)to;
}

/* Wake readers that sleep, and look at those that begin. */
static void attend(struct evspace_element *e)
{
	struct pastset_live *live = e->file.live;

	atomic_store(&live->awaited, 0);
	pastset_wake(pastset_head_low(live));
	if (e->file.said.wait_ms)
		e->limit = e->head;
}

int evspace_element_write(struct evspace_element *e, const void *tuple)
{
	struct pastset_live *live = e->file.live;

	if (__builtin_expect(e->head >= e->limit, 0) && room_wait(e) < 0)
		return -1;
	if (e->next == e->end)
		e->next = e->file.slots;
	tuple_put(e, tuple);
	/* in order with the look at `awaited`: either this sees that a reader goes to sleep, or the
	 * reader sees the new head. Beside reading the clock that costs nothing. */
	atomic_store(&live->head, ++e->head);
	atomic_thread_fence(memory_order_release);
	if (__builtin_expect(atomic_load(&live->awaited), 0))
		attend(e);
	return 0;
}
