/* SPDX-License-Identifier: BSD-3-Clause */
/* Slowest: the tuples of a wave that took longest, or were largest, with their writers and
 * numbers; of totals, those with the largest figures. */
#include "tree/stage/stage.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "tree/stage/fold.h"

/* Most tuples kept for each name. */
#define SLOWEST_MOST 1000u

/* Most bytes of an argument: the longest has 8. */
#define WORD_BYTES 16

/* A kept tuple or total, and its origin. */
struct kept {
	union {
		struct tuple tuple;
		struct total total;
	};
	uint64_t value;
	uint64_t number; /* of a tuple in its element; of a total its key */
	uint32_t element;
	uint32_t part;	    /* of a tuple: index in the wave's parts */
	enum run_kind kind; /* RUN_TUPLES or RUN_TOTALS */
};

/* What is kept of one name: a heap, the least on top. Its memory is kept from wave to wave. */
struct keep {
	struct kept *heap;
	size_t n, room;
};

struct slowest {
	struct fold fold;
	enum total_value value;
	unsigned most;
	struct keep *keeps; /* for each of the fold's groups */
	size_t n_keeps;
};

static inline struct slowest *slowest_of(struct stage *s)
{
	return (struct slowest *)(void *)s->private;
}

static int slowest_init(struct stage *s, const char *args, struct error *e)
{
	struct slowest *l = slowest_of(s);
	const char *rest = args;
	char number[WORD_BYTES] = "", word[WORD_BYTES], what[WORD_BYTES];
	bool right = fold_word(&rest, number, sizeof(number)) &&
		     quantity_count(number, 1, SLOWEST_MOST, &l->most, e) == 0;

	if (right && fold_word(&rest, word, sizeof(word))) {
		right = strcmp(word, "by") == 0 && fold_word(&rest, what, sizeof(what)) &&
			total_value_find(what) >= 0 && !fold_word(&rest, word, sizeof(word));
		if (right)
			fold_about(s, l->value = (enum total_value)total_value_find(what));
	}
	s->traits.records = l->most;
	if (right)
		return 0;
	return errorf(
		e,
		"`slowest%s%.60s` is not understood; write `slowest K`, K from 1 to %u, then `by "
		"duration` or `by bytes` as wanted",
		*args ? " " : "", args, SLOWEST_MOST);
}

/* Keep the memory of as many groups, as a wave like this one needs. */
static void keeps_cut(struct slowest *l, size_t n)
{
	while (l->n_keeps > n)
		free(l->keeps[--l->n_keeps].heap);
}

static void slowest_fini(struct stage *s)
{
	struct slowest *l = slowest_of(s);

	keeps_cut(l, 0);
	free(l->keeps);
	fold_fini(&l->fold);
}

/* ---- the order ---- */

/* Values that are equal need an order that is the same in every tree. */
static bool is_less(const struct kept *a, const struct kept *b)
{
	if (a->value != b->value)
		return a->value < b->value;
	if (a->element != b->element)
		return a->element > b->element;
	if (a->number != b->number)
		return a->number > b->number;
	return a->kind == RUN_TUPLES && a->tuple.start > b->tuple.start;
}

static void swap(struct kept *a, struct kept *b)
{
	struct kept c = *a;

	*a = *b;
	*b = c;
}

static void sink(struct kept *heap, size_t n, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < n; child++)
			if (is_less(&heap[child], &heap[least]))
				least = child;
		if (least == at)
			return;
		swap(&heap[at], &heap[least]);
		at = least;
	}
}

static void rise(struct kept *heap, size_t at)
{
	while (at > 0 && is_less(&heap[at], &heap[(at - 1) / 2])) {
		swap(&heap[at], &heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
}

/* ---- waves ---- */

static struct keep *keep_of(struct slowest *l, uint32_t name)
{
	uint64_t key[2];
	bool is_new;
	size_t at;

	group_key_of(key, name, 0, 0);
	at = (size_t)(groups_at(&l->fold.groups, key, &is_new) - l->fold.groups.items);
	if (at >= l->n_keeps) {
		l->keeps = memory_room(l->keeps, l->n_keeps, sizeof(*l->keeps));
		l->keeps[l->n_keeps++] = (struct keep){0};
	}
	if (is_new)
		l->keeps[at].n = 0;
	return &l->keeps[at];
}

/* A tuple that is not kept counts in its part; those of a total have been counted below. */
static void drop(struct slowest *l, const struct kept *one)
{
	if (one->kind == RUN_TUPLES)
		l->fold.parts.items[one->part].part.reduced++;
}

/* Keep @one, unless it is less than all kept ones. */
static void keep_put(struct slowest *l, struct keep *keep, const struct kept *one)
{
	if (keep->n < l->most) {
		if (keep->n == keep->room) {
			/* a peer may have named a million groups with one each */
			keep->room = keep->room ? 2 * keep->room : 1;
			keep->heap = reallocarray(keep->heap, keep->room, sizeof(*keep->heap));
			if (!keep->heap)
				abort();
		}
		keep->heap[keep->n] = *one;
		rise(keep->heap, keep->n++);
		return;
	}
	if (is_less(one, &keep->heap[0])) {
		drop(l, one);
		return;
	}
	drop(l, &keep->heap[0]);
	keep->heap[0] = *one;
	sink(keep->heap, keep->n, 0);
}

/* Duration in nanoseconds: the same before and after the tuple is converted. */
static uint64_t took_ns(struct tuple tuple, const struct clock_line *line)
{
	tuple_to_ns(&tuple, line);
	return tuple.end > tuple.start ? tuple.end - tuple.start : 0;
}

static void take_tuples(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct slowest *l = slowest_of(s);
	struct part *part = fold_part(&l->fold);
	struct keep *keep = keep_of(l, name);

	for (unsigned i = 0; i < view->run->count; i++) {
		struct kept one = {
			.tuple = view->tuples[i],
			.value = view->tuples[i].bytes,
			.number = run_number(view->run, i),
			.element = view->run->element,
			.part = (uint32_t)l->fold.parts.n - 1,
			.kind = RUN_TUPLES,
		};

		if (one.tuple.flags & TUPLE_RUNNING || one.tuple.end == 0) {
			part->filtered++;
			continue;
		}
		if (l->value == TOTAL_DURATION)
			one.value = took_ns(one.tuple, &part->clock);
		if (l->fold.parts.mixed)
			tuple_to_ns(&one.tuple, &part->clock);
		keep_put(l, keep, &one);
	}
}

static void take_totals(struct stage *s, const struct run_view *view, uint32_t name)
{
	struct slowest *l = slowest_of(s);
	struct keep *keep = keep_of(l, name);

	for (unsigned i = 0; i < view->run->count; i++) {
		struct kept one = {.element = view->run->element, .kind = RUN_TOTALS};

		memcpy(&one.total, view->records + i * sizeof(one.total), sizeof(one.total));
		one.value = total_rank(&one.total);
		one.number = (uint64_t)one.total.op << 32 | one.total.comm;
		keep_put(l, keep, &one);
	}
}

static void kept_to_ns(struct stage *s)
{
	struct slowest *l = slowest_of(s);

	for (size_t i = 0; i < l->fold.groups.n; i++)
		for (size_t k = 0; k < l->keeps[i].n; k++)
			if (l->keeps[i].heap[k].kind == RUN_TUPLES)
				tuple_to_ns(&l->keeps[i].heap[k].tuple, &l->fold.parts.line);
}

static void kept_emit(struct batch *out, const struct kept *one)
{
	if (one->kind == RUN_TOTALS) {
		*(struct total *)batch_add(out, RUN_TOTALS, one->element, 0, 1, 0) = one->total;
		return;
	}
	*(struct tuple *)batch_add(out, RUN_TUPLES, one->element, one->number, 1, 0) = one->tuple;
	out->last->flags |= RUN_SPARSE;
}

/* The largest first: each a run of its own, with its number. */
static void keep_emit(struct slowest *l, const struct keep *keep)
{
	struct kept *heap = keep->heap;

	for (size_t n = keep->n; n > 1; n--) {
		swap(&heap[0], &heap[n - 1]);
		sink(heap, n - 1, 0);
	}
	for (size_t k = 0; k < keep->n; k++)
		kept_emit(&l->fold.out, &heap[k]);
}

/* By name. */
static int emit_kept(struct stage *s)
{
	struct slowest *l = slowest_of(s);

	for (size_t *i = &l->fold.done.out; *i < l->fold.groups.n; ++*i) {
		if (stage_over(s, 1 + l->keeps[*i].n))
			return 1;
		keep_emit(l, &l->keeps[*i]);
	}
	return 0;
}

static const struct fold_ops keep_ops = {
	.tuples = take_tuples,
	.totals = take_totals,
	.mixed = kept_to_ns,
	.emit = emit_kept,
};

static int slowest_apply(struct stage *s, const struct ask *ask, struct batch *b)
{
	struct slowest *l = slowest_of(s);
	int rc = fold_apply(s, &keep_ops, ask, b);
	size_t kept = 0;

	for (size_t i = 0; rc == 0 && i < l->n_keeps; i++)
		kept += l->keeps[i].room;
	if (rc == 0)
		keeps_cut(l, kept > STAGE_KEPT ? 0 : l->fold.groups.n);
	return rc;
}

const struct stage_ops slowest_ops = {
	.name = "slowest",
	.op = OP_EVSPACE_SLOWEST,
	.traits = {.folds = true, .totals = true, .bytes = 56},
	.size = sizeof(struct slowest),
	.init = slowest_init,
	.apply = slowest_apply,
	.fini = slowest_fini,
};
