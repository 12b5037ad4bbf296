/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the heads of a segment's rings: tuples written, and how many of them are still there. */
#include "node-agent/source/accounting.h"

#include <string.h>

#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

#define CHANNELS ((1u << CHANNEL_COUNT) - 1)

struct accounting_look {
	const struct segment *s;
	uint32_t channels;
	struct accounting sum;
};

/* The first tuple in [@from, @head) of the ring that ended at @oldest_ns (CLOCK_MONOTONIC) or
 * later: they are in the order of their ends. */
static uint64_t first_since(const struct element_ring *ring, uint32_t capacity,
			    const struct clock_line *line, int64_t oldest_ns, uint64_t from,
			    uint64_t head)
{
	while (from < head) {
		uint64_t at = from + (head - from) / 2;
		struct element_range got;
		struct tuple tuple;

		element_read(ring, capacity, at, at + 1, &tuple, 1, &got);
		/* overwritten meanwhile: those before it, too */
		if (got.count == 0 || clock_line_ns(line, tuple.end) < oldest_ns)
			from = at + 1;
		else
			head = at;
	}
	return from;
}

uint64_t accounting_first(const struct segment *s, uint32_t i, const struct segment_element *e,
			  const struct element_ring *ring, uint64_t head)
{
	const _Atomic uint64_t *own = segment_lifetime(s, i);
	uint64_t lifetime_ns = own ? atomic_load_explicit(own, memory_order_relaxed)
				   : s->said.lifetime_ns[e->channel % CHANNEL_MAX];
	uint64_t from = segment_mark_oldest(head, e->capacity);
	uint64_t below = atomic_load_explicit(&segment_mark(s, i)->below, memory_order_relaxed);
	struct clock_line line;
	uint64_t now = clock_mono_ns();

	/* in a damaged file a mark may be beyond the head */
	below = below < from ? from : below > head ? head : below;
	/* the lifetime is from a file, and may exceed any clock */
	if (lifetime_ns == 0 || lifetime_ns >= now)
		return below;
	line = clock_line_through(s->said.clock_kind, s->said.born,
				  clock_pair_take(s->said.clock_kind), 0);
	return first_since(ring, e->capacity, &line, (int64_t)(now - lifetime_ns), below, head);
}

static void look_at_element(struct accounting_look *look, uint32_t i,
			    const struct segment_element *e)
{
	const struct element_ring *ring = segment_ring(look->s, e);
	uint64_t head, from, first;

	if (!ring)
		return;
	head = element_head(ring);
	if (e->thread == SEGMENT_NO_THREAD) {
		if ((look->channels & CHANNELS) != CHANNELS)
			return;
		look->sum.written += head;
		look->sum.lost += head;
		return;
	}
	if (e->channel >= CHANNEL_COUNT || !(look->channels >> e->channel & 1))
		return;
	from = segment_mark_oldest(head, e->capacity);
	first = accounting_first(look->s, i, e, ring, head);
	look->sum.written += head;
	look->sum.discarded += first - from;
	look->sum.held += head - first;
}

static int look_at(void *arg)
{
	struct accounting_look *look = arg;
	uint32_t n = segment_elements_readable(look->s);

	for (uint32_t i = 0; i < n; i++) {
		const struct segment_element *entry = segment_element(look->s, i);
		struct segment_element copy;

		if (!entry)
			continue;
		memcpy(&copy, entry, sizeof(copy));
		look_at_element(look, i, &copy);
	}
	return 0;
}

int accounting_read(const struct segment *s, uint32_t channels, struct accounting *sum)
{
	struct accounting_look look = {.s = s, .channels = channels};

	if (segment_guarded(look_at, &look) < 0)
		return -1;
	sum->written += look.sum.written;
	sum->held += look.sum.held;
	sum->discarded += look.sum.discarded;
	sum->lost += look.sum.lost;
	return 0;
}
