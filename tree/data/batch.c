/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches: build them run by run, link them, iterate over them. */
#include "tree/data/batch.h"

#include <stdlib.h>
#include <string.h>

#include "tree/data/columns.h"

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
			     columns_plain(view->run, view->records));
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

void batch_cut(struct batch *b, size_t at, size_t n, size_t plain)
{
	for (size_t i = at; i < at + n; i++) {
		b->bytes -= b->extents[i].bytes;
		buffer_unref(b->extents[i].buffer);
	}
	memmove(b->extents + at, b->extents + at + n, (b->n - at - n) * sizeof(*b->extents));
	b->n -= n;
	b->plain -= plain;
	b->last = NULL;
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
