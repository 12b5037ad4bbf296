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
	bool sparse; /* the number is only a lower bound */
};

/* A sort key. Equal times keep the order of the items. */
struct sort_key {
	uint64_t start;
	size_t item;
};

struct sort {
	struct parts parts;
	struct item *items; /* kept from wave to wave, like the tables below */
	struct sort_key *keys;
	size_t n, room;
	struct batch others; /* records other than tuples, and runs with losses only */
	struct batch out;
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
}

static void take_run(struct sort *sort, const struct run_view *view, const struct clock_line *line)
{
	for (unsigned i = 0; i < view->run->count; i++) {
		struct item *item = &sort->items[sort->n];

		*item = (struct item){
			.tuple = view->tuples[i],
			.number = view->run->first + i,
			.lost = i == 0 ? view->lost : 0,
			.element = view->run->element,
			.sparse = view->run->flags & RUN_SPARSE,
		};
		if (sort->parts.mixed)
			tuple_to_ns(&item->tuple, line);
		sort->n++;
	}
}

static void make_room(struct sort *sort, size_t bytes)
{
	size_t most = bytes / sizeof(struct tuple);

	if (most <= sort->room)
		return;
	free(sort->items);
	free(sort->keys);
	sort->items = memory_new(most, sizeof(*sort->items));
	sort->keys = memory_new(most, sizeof(*sort->keys));
	sort->room = most;
}

static void take(struct sort *sort, const struct batch *b)
{
	struct batch_cursor c = {0};
	struct run_view view;
	struct clock_line line = CLOCK_LINE_NS;

	parts_reset(&sort->parts);
	make_room(sort, b->bytes);
	sort->n = 0;
	while (batch_next(b, &c, &view)) {
		if (view.run->kind == RUN_PART) {
			line = view.part->clock;
			if (parts_add(&sort->parts, &view))
				for (size_t i = 0; i < sort->n; i++)
					tuple_to_ns(&sort->items[i].tuple, &sort->parts.line);
		} else if (view.run->kind == RUN_TUPLES && view.run->count > 0) {
			take_run(sort, &view, &line);
		} else {
			batch_keep(&sort->others, &view);
		}
	}
}

static int key_compare(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->item < y->item ? -1 : 1;
}

static void order(struct sort *sort)
{
	for (size_t i = 0; i < sort->n; i++)
		sort->keys[i] = (struct sort_key){sort->items[i].tuple.start, i};
	if (sort->n > 1)
		qsort(sort->keys, sort->n, sizeof(*sort->keys), key_compare);
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

		if (next->element != first->element || next->number != first->number + n ||
		    next->lost > 0 || next->sparse != first->sparse)
			break;
		n++;
	}
	return n;
}

static int sort_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	struct sort *sort = (struct sort *)(void *)s->private;
	uint32_t n;

	take(sort, b);
	order(sort);
	parts_emit(&sort->parts, names_place(s->names), ask->wave, &sort->out);
	for (size_t at = 0; at < sort->n; at += n) {
		const struct item *first = item_at(sort, at);
		struct tuple *out;

		n = run_length(sort, at);
		out = batch_add(&sort->out, RUN_TUPLES, first->element, first->number, n,
				first->lost);
		if (first->sparse)
			sort->out.last->flags |= RUN_SPARSE;
		for (uint32_t i = 0; i < n; i++)
			out[i] = item_at(sort, at + i)->tuple;
	}
	batch_link(&sort->out, &sort->others);
	batch_clear(b);
	batch_link(b, &sort->out);
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
