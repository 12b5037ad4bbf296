/* SPDX-License-Identifier: BSD-3-Clause */
/* What nobody has read of a process's elements is lost with its file, and told as that. */
#include "node-agent/source/row-private.h"

#include <string.h>

#include "node-agent/segment/segment-mark.h"
#include "tree/data/clock.h"

/* What may be taken in of a file that goes; no reader waits for longer. */
#define LAST_NS 5000000u

struct row_gone_look {
	struct rows *r;
	uint64_t serial;
};

static int look(void *arg)
{
	const struct row_gone_look *l = arg;

	for (uint32_t i = 0; i < l->r->n; i++) {
		struct row *row = &l->r->table[i];

		if (row->serial != l->serial || !row->ring || row->mirrored || row->given)
			continue;
		row->end = element_head(row->ring);
		row->discarded = atomic_load_explicit(&row->mark->below, memory_order_relaxed);
	}
	return 0;
}

/* Where the process stands among those that are followed, or their number. */
static size_t place_of(const struct rows *r, uint64_t serial)
{
	size_t i = 0;

	while (i < r->n_follows && r->follows[i].serial != serial)
		i++;
	return i;
}

/* It is let go of at once: others may go together with it, and what it points at is no more. */
static void let_go(struct rows *r, uint64_t serial)
{
	size_t at = place_of(r, serial);

	rows_drop(r, serial);
	r->n_follows--;
	memmove(&r->follows[at], &r->follows[at + 1], (r->n_follows - at) * sizeof(*r->follows));
}

void rows_gone(const struct source_host *host, const struct store_segment *s)
{
	struct row_gone_look l = {.serial = s->serial};

	if (!host->streams)
		return;
	LIST_FOREACH (l.r, host->streams, stream) {
		if (place_of(l.r, s->serial) == l.r->n_follows)
			continue;
		if (l.r->cursor)
			(void)rows_take_all(l.r, clock_mono_ns() + LAST_NS);
		(void)segment_guarded(look, &l);
		let_go(l.r, s->serial);
	}
}

void row_lose(const struct row *row, uint64_t to, uint64_t *from, struct batch *out,
	      struct part *part)
{
	uint64_t mark = row->discarded < to ? row->discarded : to, oldest;

	if (row->ring || !row->end || *from >= to)
		return;
	if (*from < mark) {
		oldest = segment_mark_oldest(row->discarded, row->capacity);
		oldest = oldest > mark ? mark : oldest < *from ? *from : oldest;
		part->lost += oldest - *from;
		if (oldest > *from)
			batch_add(out, RUN_TUPLES, row->name, oldest, 0, oldest - *from);
		part->discarded += mark - oldest;
		if (mark > oldest)
			batch_discard(out, row->name, mark, mark - oldest);
		*from = mark;
	}
	part->lost += to - *from;
	if (to > *from)
		batch_add(out, RUN_TUPLES, row->name, to, 0, to - *from);
	*from = to;
}
