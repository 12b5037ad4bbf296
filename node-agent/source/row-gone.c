/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts as lost what streams have not read of a process's elements when its file is removed. */
#include "node-agent/source/row-private.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/row-typed.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* Longest time to name the elements of removed files, for all streams together. */
#define LAST_NS 5000000u

/* Key of one row for all elements of a process that had no rows yet; above the keys of elements. */
#define REST_KEY 0x40000000u

/* The segments that are removed, sorted by serial. */
struct row_gone {
	uint64_t *serials;
	size_t n;
	uint64_t until_ns; /* until then rows are still made */
};

struct row_gone_look {
	const struct row_gone *gone;
	struct rows *r;
	volatile uint32_t at;
};

/* Sums over a process's elements without rows. */
struct row_gone_rest {
	const struct rows *r;
	const struct follow *f;
	uint64_t written, discarded;
};

static int compare_serials(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool is_going(const struct row_gone *gone, uint64_t serial)
{
	return bsearch(&serial, gone->serials, gone->n, sizeof(serial), compare_serials) != NULL;
}

static int look(void *arg)
{
	struct row_gone_look *l = arg;

	for (; l->at < l->r->n; l->at++) {
		struct row *row = &l->r->table[l->at];

		if (!row->ring || row->mirrored || row->off_map || !is_going(l->gone, row->serial))
			continue;
		row->end = element_head(row->ring);
		row->discarded = atomic_load_explicit(&row->mark->below, memory_order_relaxed);
	}
	return 0;
}

/* ---- elements without rows ---- */

static void rest_add(struct row_gone_rest *rest, uint32_t i, const struct segment_element *e)
{
	const struct segment *s = &rest->f->segment->segment;
	const struct element_ring *ring = segment_ring(s, e);
	uint64_t head, mark, oldest, from = 0;

	if (!ring || !rows_read_here(rest->r, rest->f->segment, e))
		return;
	head = element_head(ring);
	if (rest->r->from_now && i < rest->f->older)
		from = rest->f->heads ? rest->f->heads[i] : head;
	if (from >= head)
		return;
	mark = atomic_load_explicit(&segment_mark(s, i)->below, memory_order_relaxed);
	oldest = segment_mark_oldest(mark, e->capacity);
	mark = mark < head ? mark : head;
	oldest = oldest < from ? from : oldest;
	rest->written += head - from;
	rest->discarded += mark > oldest ? mark - oldest : 0;
}

static int sum(void *arg)
{
	struct row_gone_rest *rest = arg;
	const struct segment *s = &rest->f->segment->segment;
	uint32_t n = segment_elements_readable(s);

	rest->written = rest->discarded = 0;
	for (uint32_t i = rest->f->elements; i < n; i++) {
		const struct segment_element *e = segment_element(s, i);
		struct segment_element copy;

		if (!e)
			continue;
		memcpy(&copy, e, sizeof(copy));
		rest_add(rest, i, &copy);
	}
	return 0;
}

/* Give them one row, which is reported like those of elements. */
static void rest_put(struct rows *r, const struct follow *f, const struct row_gone_rest *rest)
{
	const struct cursor_key key = {
		.device = f->segment->segment.device,
		.inode = f->segment->segment.inode,
		.born = f->segment->born.mono_ns,
		.element = REST_KEY,
	};
	uint32_t number = cursor_row(r->cursor, &key, 0);

	if (number <= NAME_LOCAL_MAX)
		*rows_room(r, number) = (struct row){
			.end = rest->written,
			.discarded = rest->discarded,
			.capacity = UINT32_MAX,
			.nameless = true,
		};
}

static void rest_take(struct rows *r, struct follow *f, const struct row_gone *gone)
{
	struct row_gone_rest rest = {.r = r, .f = f};

	if (f->broken || f->off_map)
		return;
	if (clock_mono_ns() < gone->until_ns)
		(void)rows_take(r, f, gone->until_ns);
	if (!f->broken && segment_guarded(sum, &rest) == 0 && rest.written > 0)
		rest_put(r, f, &rest);
}

/* ---- a stream ---- */

/* Drop the rows at once, as their memory will be unmapped. */
static void let_go(struct rows *r, const struct row_gone *gone)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		if ((r->table[i].ring || r->table[i].thread) && is_going(gone, r->table[i].serial))
			r->table[i].ring = NULL, r->table[i].thread = NULL;
	}
	for (size_t i = 0; i < r->n_follows; i++) {
		if (r->follows[i].going)
			follow_forget_heads(r, &r->follows[i]);
		else
			r->follows[kept++] = r->follows[i];
	}
	r->n_follows = kept;
}

static void stream_sweep(struct rows *r, const struct row_gone *gone)
{
	struct row_gone_look l = {.gone = gone, .r = r};
	bool any = false;

	for (size_t i = 0; i < r->n_follows; i++)
		any |= r->follows[i].going = is_going(gone, r->follows[i].serial);
	if (!any)
		return;
	for (size_t i = 0; r->cursor && i < r->n_follows; i++) {
		if (r->follows[i].going)
			rest_take(r, &r->follows[i], gone);
	}
	/* drop the rows of a file that was cut short */
	while (segment_guarded(look, &l) < 0)
		rows_drop(r, r->table[l.at].serial);
	let_go(r, gone);
}

void rows_gone(const struct source_host *host, const struct store_list *going)
{
	struct row_gone gone = {.until_ns = clock_mono_ns() + LAST_NS};
	const struct store_segment *s;
	struct rows *r;

	if (!host->streams || LIST_EMPTY(host->streams))
		return;
	TAILQ_FOREACH (s, going, link)
		gone.n++;
	gone.serials = memory_new(gone.n + 1, sizeof(*gone.serials));
	gone.n = 0;
	TAILQ_FOREACH (s, going, link)
		gone.serials[gone.n++] = s->serial;
	qsort(gone.serials, gone.n, sizeof(*gone.serials), compare_serials);
	LIST_FOREACH (r, host->streams, stream) {
		stream_sweep(r, &gone);
		rows_gone_typed(r);
	}
	free(gone.serials);
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
		if (oldest > *from && !row->nameless)
			batch_add(out, RUN_TUPLES, row->name, oldest, 0, oldest - *from);
		part->discarded += mark - oldest;
		if (mark > oldest && !row->nameless)
			batch_discard(out, row->name, mark, mark - oldest);
		*from = mark;
	}
	part->lost += to - *from;
	if (to > *from && !row->nameless)
		batch_add(out, RUN_TUPLES, row->name, to, 0, to - *from);
	*from = to;
}
