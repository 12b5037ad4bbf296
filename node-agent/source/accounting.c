/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the heads of a segment's rings: tuples written, and how many of them are still there. */
#include "node-agent/source/accounting.h"

#include <string.h>

#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "tree/data/op.h"

#define CHANNELS ((1u << CHANNEL_COUNT) - 1)

struct accounting_look {
	const struct segment *s;
	uint32_t channels;
	struct accounting sum;
};

static void look_at_element(struct accounting_look *look, uint32_t i,
			    const struct segment_element *e)
{
	const struct element_ring *ring = segment_ring(look->s, e);
	uint64_t head, from, below;

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
	below = atomic_load_explicit(&segment_mark(look->s, i)->below, memory_order_relaxed);
	/* in a damaged file a mark may be beyond the head */
	below = below < from ? from : below > head ? head : below;
	look->sum.written += head;
	look->sum.discarded += below - from;
	look->sum.held += head - below;
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
