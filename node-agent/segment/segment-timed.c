/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and adds up what operations that were timed cost a process. */
#include "node-agent/segment/segment-timed.h"

#include "node-agent/segment/segment-table.h"

uint64_t segment_timed_place(const struct segment_layout *layout)
{
	return layout->labels_at + layout->labels_max * sizeof(struct segment_label);
}

uint64_t segment_timed_bytes(const struct segment_layout *layout)
{
	return layout->threads_max * (uint64_t)CHANNEL_PROGRAMS * sizeof(struct segment_timed);
}

struct segment_timed *segment_timed_of(const struct segment *s, uint32_t thread)
{
	char *table = (char *)s->header + segment_timed_place(&s->layout);

	return (struct segment_timed *)(void *)table + (uint64_t)thread * CHANNEL_PROGRAMS;
}

static uint64_t load(const _Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

void segment_timed_read(const struct segment *s, struct segment_timed_sum sums[CHANNEL_PROGRAMS])
{
	const uint64_t at = segment_timed_place(&s->layout);
	uint32_t threads = atomic_load_explicit(&s->header->threads, memory_order_acquire);

	/* files of other releases may have no table, or have it elsewhere */
	if (s->said.timed_at != at || at + segment_timed_bytes(&s->layout) > s->layout.rings_at)
		return;
	for (uint32_t t = 0; t < threads && t < s->layout.threads_max; t++) {
		const struct segment_timed *of = segment_timed_of(s, t);

		for (unsigned c = 0; c < CHANNEL_PROGRAMS; c++) {
			sums[c].n += load(&of[c].n);
			sums[c].ticks += load(&of[c].ticks);
			sums[c].squares += load(&of[c].squares);
			sums[c].more += load(&of[c].more);
			sums[c].cut += load(&of[c].cut);
			sums[c].passed += load(&of[c].passed);
			sums[c].passed_ticks += load(&of[c].passed_ticks);
		}
	}
}
