/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: build them run by run, link them, iterate over them, check those from peers. */
#include "tree/data/batch.h"

#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "tree/data/columns.h"

/* A line beyond these is not a clock: ticks of 10 s, times after the year 2100. */
#define NS_PER_TICK_MOST 1e10

#define RECORD(NAME, kind, widths, is_sound, merges)          \
	[RUN_##NAME] = {                                      \
		.name = #kind,                                \
		.bytes = sizeof(struct kind),                 \
		.fields = widths,                             \
		.sound = is_sound,                            \
		.fault = "has a " #kind " that is not valid", \
		.merge = merges,                              \
	},

const struct run_record run_records[RUN_KINDS] = {RUN_TABLE(RECORD)};

/* Bytes of header and lost count, and of the whole run: tuples first, since their size is a
 * constant. */
static inline size_t run_head(const struct run *run)
{
	return sizeof(*run) + (run->flags & RUN_LOST ? sizeof(uint64_t) : 0);
}

static inline size_t run_bytes(const struct run *run)
{
	if (__builtin_expect(run->kind == RUN_TUPLES, 1))
		return run_head(run) + run->count * sizeof(struct tuple);
	return run_head(run) + (size_t)run->count * run_records[run->kind].bytes;
}

/* Bytes of the whole run when its columns, if it has any, are opened. */
static size_t run_plain(const struct run *run, const unsigned char *records)
{
	struct columns what = {run->kind, run->count};

	if (run->kind == RUN_COLUMNS)
		what = columns_head(records);
	return run_head(run) + what.count * run_record_bytes(what.kind);
}

void batch_init(struct batch *b)
{
	*b = (struct batch){0};
}

void batch_clear(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		buffer_unref(b->extents[i].buffer);
	buffer_unref(b->own);
	b->n = b->bytes = b->plain = 0;
	b->own = NULL;
	b->last = NULL;
}

void batch_fini(struct batch *b)
{
	if (!b)
		return;
	batch_clear(b);
	free(b->extents);
	batch_init(b);
}

/* Room for @more extents in the table. */
static void batch_reserve(struct batch *b, size_t more)
{
	size_t room = b->room ? b->room : 8;

	if (b->room - b->n >= more)
		return;
	while (room - b->n < more)
		room *= 2;
	b->extents = reallocarray(b->extents, room, sizeof(*b->extents));
	if (!b->extents)
		abort();
	b->room = room;
}

void batch_append(struct batch *b, struct buffer *buffer, size_t at, size_t bytes)
{
	batch_append_columns(b, buffer, at, bytes, bytes);
}

void batch_append_columns(struct batch *b, struct buffer *buffer, size_t at, size_t bytes,
			  size_t plain)
{
	struct extent *end = b->n ? &b->extents[b->n - 1] : NULL;

	if (bytes == 0)
		return;
	b->bytes += bytes;
	b->plain += plain;
	b->last = NULL;
	if (end && end->buffer == buffer && (size_t)end->at + end->bytes == at) {
		end->bytes += (uint32_t)bytes;
		return;
	}
	batch_reserve(b, 1);
	b->extents[b->n++] = (struct extent){
		.buffer = buffer_ref(buffer),
		.at = (uint32_t)at,
		.bytes = (uint32_t)bytes,
	};
}

void batch_keep(struct batch *b, const struct run_view *view)
{
	if (view->bytes == 0) {
		struct tuple *tuple =
			batch_add(b, RUN_TUPLES, view->run->element, view->run->first, 1, 0);

		*tuple = view->tuples[0];
		return;
	}
	batch_append_columns(b, view->buffer,
			     (size_t)((unsigned char *)view->run - view->buffer->data), view->bytes,
			     run_plain(view->run, view->records));
}

void batch_link(struct batch *to, struct batch *from)
{
	to->last = NULL;
	from->last = NULL;
	if (to->n == 0) {
		struct extent *table = to->extents;
		size_t room = to->room;

		to->extents = from->extents;
		to->room = from->room;
		to->n = from->n;
		from->extents = table;
		from->room = room;
	} else if (from->n > 0) {
		batch_reserve(to, from->n);
		memcpy(to->extents + to->n, from->extents, from->n * sizeof(*from->extents));
		to->n += from->n;
	}
	to->bytes += from->bytes;
	to->plain += from->plain;
	from->n = from->bytes = from->plain = 0;
}

void batch_unpin(struct batch *b)
{
	const struct buffer *large = NULL;
	struct buffer *copy;
	size_t pinned = 0, plain = b->plain;

	for (size_t i = 0; i < b->n; i++) {
		const struct buffer *buffer = b->extents[i].buffer;

		if (buffer->size <= BUFFER_COMMON || buffer == large)
			continue;
		pinned += buffer->size;
		large = buffer;
	}
	if (pinned / 4 <= b->bytes)
		return;
	copy = buffer_new(b->bytes);
	for (size_t i = 0; i < b->n; i++) {
		const struct extent *x = &b->extents[i];

		memcpy(copy->data + copy->used, x->buffer->data + x->at, x->bytes);
		copy->used += x->bytes;
	}
	batch_clear(b);
	batch_append_columns(b, copy, 0, copy->used, plain);
	buffer_unref(copy);
}

/* Make the end of the batch a place in a buffer of its own with room for @bytes. */
static void batch_open(struct batch *b, size_t bytes)
{
	buffer_unref(b->own);
	b->own = buffer_new(bytes);
}

void *batch_add(struct batch *b, enum run_kind kind, uint32_t element, uint64_t first,
		uint32_t count, uint64_t lost)
{
	size_t head = sizeof(struct run) + (lost ? sizeof(lost) : 0);
	size_t bytes = head + (size_t)count * run_records[kind].bytes;
	struct buffer *own = b->own;
	struct run *run;

	/* Room for a lost count, since batch_settle() may have to add one. */
	if (!own || own->size - own->used < bytes + sizeof(lost)) {
		batch_open(b, bytes + sizeof(lost));
		own = b->own;
	}
	run = (struct run *)(void *)(own->data + own->used);
	*run = (struct run){
		.element = element,
		.count = (uint16_t)count,
		.kind = (uint8_t)kind,
		.flags = lost ? RUN_LOST : 0,
		.first = first,
	};
	if (lost)
		memcpy(run + 1, &lost, sizeof(lost));
	batch_append(b, own, own->used, bytes);
	own->used += bytes;
	b->last = run;
	return (unsigned char *)run + head;
}

void batch_discard(struct batch *b, uint32_t element, uint64_t first, uint64_t discarded)
{
	batch_add(b, RUN_TUPLES, element, first, 0, discarded);
	b->last->flags |= RUN_DISCARDED;
}

void batch_settle(struct batch *b, uint64_t first, uint32_t count, uint64_t lost)
{
	struct run *run = b->last;
	struct extent *end = &b->extents[b->n - 1];
	size_t record = run_records[run->kind].bytes;
	size_t old_head = sizeof(*run) + (run->flags & RUN_LOST ? sizeof(lost) : 0);
	size_t head = sizeof(*run) + (lost ? sizeof(lost) : 0);
	size_t old_bytes = old_head + run->count * record;
	size_t bytes = count || lost ? head + count * record : 0;

	if (head != old_head)
		memmove((unsigned char *)run + head, (unsigned char *)run + old_head,
			count * record);
	if (lost)
		memcpy(run + 1, &lost, sizeof(lost));
	run->first = first;
	run->count = (uint16_t)count;
	run->flags = (uint8_t)((run->flags & ~RUN_LOST) | (lost ? RUN_LOST : 0));
	end->bytes = (uint32_t)(end->bytes - old_bytes + bytes);
	b->own->used = b->own->used - old_bytes + bytes;
	b->bytes = b->bytes - old_bytes + bytes;
	b->plain = b->plain - old_bytes + bytes;
	if (end->bytes == 0) {
		buffer_unref(end->buffer);
		b->n--;
	}
	if (bytes == 0)
		b->last = NULL;
}

void batch_trim(struct batch *b, uint32_t count)
{
	uint64_t lost = 0;

	if (b->last->flags & RUN_LOST)
		memcpy(&lost, b->last + 1, sizeof(lost));
	batch_settle(b, b->last->first, count, lost);
}

/* The run at the cursor, NULL at the end. */
static inline struct run *run_at(const struct batch *b, struct batch_cursor *c)
{
	const struct extent *x;

	while (c->extent < b->n && c->offset == b->extents[c->extent].bytes) {
		c->extent++;
		c->offset = 0;
	}
	if (c->extent == b->n)
		return NULL;
	x = &b->extents[c->extent];
	return (struct run *)(void *)(x->buffer->data + x->at + c->offset);
}

/* Show the next record of a RUN_NEWEST as a run of its own; after the last one, move to the next
 * run. */
static inline void newest_show(const struct batch *b, struct run *run, struct batch_cursor *c,
			       struct run_view *view)
{
	struct newest *newest = (struct newest *)(void *)(run + 1) + c->record;

	c->shown = (struct run){
		.element = run->element + c->record,
		.count = 1,
		.kind = RUN_TUPLES,
		.first = newest->number,
	};
	*view = (struct run_view){
		.run = &c->shown,
		.tuples = &newest->tuple,
		.buffer = b->extents[c->extent].buffer,
	};
	if (++c->record == run->count) {
		c->record = 0;
		c->offset += run_bytes(run);
	}
}

static inline void run_show(const struct batch *b, struct run *run, struct batch_cursor *c,
			    struct run_view *view)
{
	view->buffer = b->extents[c->extent].buffer;
	view->run = run;
	view->lost = 0;
	if (run->flags & RUN_LOST)
		memcpy(&view->lost, run + 1, sizeof(view->lost));
	view->records = (unsigned char *)run + run_head(run);
	view->bytes = run_bytes(run);
	c->offset += view->bytes;
}

int batch_next(const struct batch *b, struct batch_cursor *c, struct run_view *view)
{
	struct run *run = run_at(b, c);

	if (!run)
		return 0;
	if (run->kind == RUN_NEWEST)
		newest_show(b, run, c, view);
	else
		run_show(b, run, c, view);
	return 1;
}

int batch_next_packed(const struct batch *b, struct batch_cursor *c, struct run_view *view)
{
	struct run *run = run_at(b, c);

	if (!run)
		return 0;
	run_show(b, run, c, view);
	return 1;
}

int batch_next_part(const struct batch *b, struct batch_cursor *c, struct run_view *view)
{
	struct run *run;

	while ((run = run_at(b, c)) && run->kind != RUN_PART)
		c->offset += run_bytes(run);
	if (!run)
		return 0;
	run_show(b, run, c, view);
	return 1;
}

static int clock_sound(const struct clock_line *line)
{
	/* a NaN fails these comparisons */
	return line->ns_per_tick >= 0 && line->ns_per_tick <= NS_PER_TICK_MOST &&
	       line->error_ns >= 0 && line->error_ns <= DBL_MAX &&
	       line->base_ns >= -CLOCK_BASE_MOST && line->base_ns <= CLOCK_BASE_MOST;
}

static const char *newest_fault(const struct run *run, uint32_t count)
{
	if (count == 0 || run->flags)
		return "holds newest tuples and has none, or flags";
	return run->element > UINT32_MAX - count ? "has elements past the last name" : NULL;
}

/* The fault of the header of a run with @left bytes from its start, or NULL. */
static const char *run_fault(const struct run *run, size_t left, int first)
{
	if (left < sizeof(*run))
		return "is longer than what is left";
	if (run->kind >= RUN_KINDS)
		return "is of a kind that does not exist";
	if (run->flags & ~(RUN_LOST | RUN_SPARSE | RUN_FOLD | RUN_DISCARDED))
		return "has flags that do not exist";
	if (first && run->kind != RUN_PART)
		return "comes before any part";
	if (run->kind == RUN_PART && (run->count != 1 || run->flags & ~RUN_FOLD))
		return "is a part and does not have exactly one record";
	if (run->kind != RUN_PART && run->flags & RUN_FOLD)
		return "is marked as a part but is not one";
	if (run->flags & RUN_DISCARDED &&
	    (run->kind != RUN_TUPLES || run->count || run->flags != (RUN_DISCARDED | RUN_LOST)))
		return "counts discarded tuples and has others";
	if (run->kind == RUN_NEWEST && newest_fault(run, run->count))
		return newest_fault(run, run->count);
	return run_bytes(run) > left ? "is longer than what is left" : NULL;
}

static const char *part_fault(const struct run *run, const unsigned char *record)
{
	struct part part;

	memcpy(&part, record, sizeof(part));
	if (!clock_sound(&part.clock))
		return "has a clock that is not valid";
	if (run->flags & RUN_FOLD && (part.read > 0 || part.lost > 0 || part.discarded > 0))
		return "is a mark and counts tuples as read";
	return NULL;
}

/* @all: bytes that the runs before stand for. */
static const char *columns_fault(const struct run *run, const unsigned char *records, size_t all)
{
	struct columns what;

	if (run->count > 0 && all + run_plain(run, records) > BATCH_PLAIN_MOST)
		return "has columns that stand for more than a batch may have";
	if (columns_get(records, run->count * sizeof(struct column_word), &what, NULL, NULL) < 0)
		return "has broken columns";
	if (run_plain(run, records) <= run_bytes(run))
		return "has columns that are no smaller than what they stand for";
	return what.kind == RUN_NEWEST ? newest_fault(run, what.count) : NULL;
}

/* The fault of a run's records, or NULL. */
static const char *records_fault(const struct run *run, const unsigned char *records, size_t all)
{
	const struct run_record *kind = &run_records[run->kind];

	if (run->kind == RUN_COLUMNS)
		return columns_fault(run, records, all);
	if (run->kind == RUN_PART)
		return part_fault(run, records);
	for (unsigned i = 0; kind->sound && i < run->count; i++)
		if (!kind->sound(records + i * kind->bytes))
			return kind->fault;
	return NULL;
}

int batch_check(const unsigned char *data, size_t bytes, size_t *plain, struct error *e)
{
	size_t at = 0, all = 0;
	const char *fault = NULL;

	errno = EPROTO;
	if (bytes > 0 && (uintptr_t)data % sizeof(uint64_t) != 0)
		return errorf(e, "a batch must lie at a multiple of 8 bytes");
	while (at < bytes && !fault) {
		const struct run *run = (const struct run *)(const void *)(data + at);

		fault = run_fault(run, bytes - at, at == 0);
		fault = fault ? fault : records_fault(run, data + at + run_head(run), all);
		all += fault ? 0 : run_plain(run, data + at + run_head(run));
		at += fault ? 0 : run_bytes(run);
	}
	if (plain)
		*plain = all;
	return !fault ? 0
		      : errorf(e, "a batch of %zu bytes is broken: the run at byte %zu %s", bytes,
			       at, fault);
}
