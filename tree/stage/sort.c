/* SPDX-License-Identifier: BSD-3-Clause */
/* Sort: a wave's tuples by start time over all elements; consecutive ones of one element are a
 * run. */
#include "tree/stage/stage.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/part.h"
#include "tree/data/tuple.h"

/* A tuple and its origin. */
struct item {
	struct tuple tuple;
	uint64_t number; /* its number in its element */
	uint64_t lost;	 /* before it */
	uint32_t element;
	bool sparse; /* others were removed between it and the next */
};

/* A sort key. Equal times keep the order of the items. */
struct sort_key {
	uint64_t start;
	size_t item;
};

struct sort {
	struct parts parts;
	struct item *items; /* kept from wave to wave, like the tables below */
	struct sort_key *keys, *merged;
	size_t n, room;
	struct batch others; /* records other than tuples, and runs with losses only */
	struct batch out;
	struct sort_progress {
		struct batch_cursor next;
		struct clock_line line;
		bool taken;	  /* all was taken in */
		size_t keyed;	  /* items that have keys */
		size_t width, at; /* keys are in order by so many; up to here, by two times that */
		size_t out;	  /* keys whose items have come out */
	} done;			  /* of the wave that is under way */
};

static int sort_init(struct stage *s, const char *args, struct error *e)
{
	(void)s;
	if (args[0] == '\0' || strcmp(args, "time") == 0)
		return 0;
	return errorf(e, "sort \"%s\" is unknown; it is \"sort\", by the time of start", args);
}

static void sort_fini(struct stage *s)
{
	struct sort *sort = (struct sort *)(void *)s->private;

	parts_fini(&sort->parts);
	batch_fini(&sort->others);
	batch_fini(&sort->out);
	free(sort->items);
	free(sort->keys);
	free(sort->merged);
}

static void take_run(struct sort *sort, const struct run_view *view, const struct clock_line *line)
{
	for (unsigned i = 0; i < view->run->count; i++) {
		struct item *item = &sort->items[sort->n];

		*item = (struct item){
			.tuple = view->tuples[i],
			.number = run_number(view->run, i),
			.lost = i == 0 ? view->lost : 0,
			.element = view->run->element,
			.sparse = view->run->flags & RUN_SPARSE,
		};
		if (sort->parts.mixed)
			tuple_to_ns(&item->tuple, line);
		sort->n++;
	}
}

static void set_room(struct sort *sort, size_t most)
{
	free(sort->items);
	free(sort->keys);
	free(sort->merged);
	sort->items = memory_new(most, sizeof(*sort->items));
	sort->keys = memory_new(most, sizeof(*sort->keys));
	sort->merged = memory_new(most, sizeof(*sort->merged));
	sort->room = most;
}

static void take_part(struct sort *sort, const struct run_view *view)
{
	sort->done.line = view->part->clock;
	if (!parts_add(&sort->parts, view))
		return;
	for (size_t i = 0; i < sort->n; i++)
		tuple_to_ns(&sort->items[i].tuple, &sort->parts.line);
}

/* This and what follows returns 0 when it is done, 1 when stage_over(). */
static int take(struct stage *s, const struct batch *b)
{
	struct sort *sort = (struct sort *)(void *)s->private;
	struct run_view view;

	while (batch_next(b, &sort->done.next, &view)) {
		if (view.run->kind == RUN_PART)
			take_part(sort, &view);
		else if (view.run->kind == RUN_TUPLES && view.run->count > 0)
			take_run(sort, &view, &sort->done.line);
		else if (!parts_more(&sort->parts, &view))
			batch_keep(&sort->others, &view);
		if (stage_over(s, 1 + view.run->count))
			return 1;
	}
	return 0;
}

/* Merge two stretches of keys that are in order, from @at on: @width of them, and at most so many
 * behind these. */
static void merge(struct sort *sort, size_t at, size_t width)
{
	size_t middle = sort->n - at < width ? sort->n : at + width;
	size_t end = sort->n - middle < width ? sort->n : middle + width;
	const struct sort_key *a = &sort->keys[at], *b = &sort->keys[middle];
	const struct sort_key *a_end = b, *b_end = &sort->keys[end];
	struct sort_key *out = &sort->merged[at];

	/* they mostly are in order as a whole */
	if (a == a_end || b == b_end || a_end[-1].start <= b->start) {
		memcpy(out, a, (end - at) * sizeof(*out));
		return;
	}
	while (a < a_end && b < b_end)
		*out++ = b->start < a->start ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*out));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*out));
}

static int order(struct stage *s)
{
	struct sort *sort = (struct sort *)(void *)s->private;
	struct sort_progress *done = &sort->done;

	for (; done->keyed < sort->n; done->keyed++) {
		if (stage_over(s, 1))
			return 1;
		sort->keys[done->keyed] =
			(struct sort_key){sort->items[done->keyed].tuple.start, done->keyed};
	}
	for (; done->width < sort->n; done->width *= 2) {
		struct sort_key *keys = sort->keys;

		for (; done->at < sort->n; done->at += 2 * done->width) {
			if (stage_over(s, 2 * done->width))
				return 1;
			merge(sort, done->at, done->width);
		}
		sort->keys = sort->merged;
		sort->merged = keys;
		done->at = 0;
	}
	return 0;
}

static const struct item *item_at(const struct sort *sort, size_t at)
{
	return &sort->items[sort->keys[at].item];
}

/* The number of items from @at on that make one run. */
static uint32_t run_length(const struct sort *sort, size_t at)
{
	const struct item *first = item_at(sort, at);
	uint32_t n = 1;

	while (at + n < sort->n && n < UINT16_MAX) {
		const struct item *next = item_at(sort, at + n);

		if (next->element != first->element || next->lost > 0 ||
		    next->sparse != first->sparse ||
		    next->number != (first->sparse ? RUN_UNKNOWN : first->number + n))
			break;
		n++;
	}
	return n;
}

static int emit(struct stage *s)
{
	struct sort *sort = (struct sort *)(void *)s->private;
	uint32_t n;

	for (size_t *at = &sort->done.out; *at < sort->n; *at += n) {
		const struct item *first = item_at(sort, *at);
		struct tuple *out;

		n = run_length(sort, *at);
		if (stage_over(s, n))
			return 1;
		out = batch_add(&sort->out, RUN_TUPLES, first->element, first->number, n,
				first->lost);
		if (first->sparse)
			sort->out.last->flags |= RUN_SPARSE;
		for (uint32_t i = 0; i < n; i++)
			out[i] = item_at(sort, *at + i)->tuple;
	}
	return 0;
}

static void sort_begin(struct sort *sort, const struct batch *b)
{
	size_t most = b->bytes / sizeof(struct tuple);

	parts_reset(&sort->parts);
	batch_clear(&sort->others);
	batch_clear(&sort->out);
	if (most > sort->room)
		set_room(sort, most);
	sort->n = 0;
	sort->done = (struct sort_progress){.line = CLOCK_LINE_NS, .width = 1};
}

static int sort_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	/* all tuples come, and each says whose it is: so do the parts */
	const struct parts_place place = {.index = names_place(s->names), .wave = ask->wave};
	struct sort *sort = (struct sort *)(void *)s->private;

	if (!s->paused)
		sort_begin(sort, b);
	if (!sort->done.taken && take(s, b) > 0)
		return 1;
	if (!sort->done.taken)
		parts_emit(&sort->parts, &place, &sort->out);
	sort->done.taken = true;
	if (order(s) > 0 || emit(s) > 0)
		return 1;
	batch_link(&sort->out, &sort->others);
	batch_clear(b);
	batch_link(b, &sort->out);
	if (sort->room > STAGE_KEPT)
		set_room(sort, 0);
	return 0;
}

const struct stage_ops sort_ops = {
	.name = "sort",
	.op = OP_EVSPACE_SORT,
	.traits = {.keeps = true},
	.size = sizeof(struct sort),
	.init = sort_init,
	.apply = sort_apply,
	.fini = sort_fini,
};
