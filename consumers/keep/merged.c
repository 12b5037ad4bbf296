/* SPDX-License-Identifier: BSD-3-Clause */
/* Knows from a first reading which numbers any archive has, so that in the second one nothing is
 * given before what another archive has of the numbers below it. */
#include "consumers/keep/merged.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* A tuple that was written so much earlier or later than clocks allow is another one. */
#define ANEW_NS 1e6

struct merged_held {
	TAILQ_ENTRY(merged_held) entry;
	struct clock_line line;
	struct merged_piece piece; /* of what follows: its head, and its tuples */
	uint64_t words[];
};

struct merged_name {
	struct merged_element *of;
	UT_hash_handle hh;
	char text[];
};

void merged_init(struct merged *m)
{
	*m = (struct merged){0};
	STAILQ_INIT(&m->elements);
}

static struct merged_name *name_find(const struct merged *m, const char *text)
{
	struct merged_name *name;

	HASH_FIND_STR(m->names, text, name);
	return name;
}

struct merged_element *merged_self(struct merged_element *of)
{
	while (of->same)
		of = of->same;
	return of;
}

static void set_join(struct interval_set *to, struct interval_set *of)
{
	for (size_t i = 0; i < of->n; i++)
		interval_set_add(to, of->items[i].from, of->items[i].to);
	interval_set_fini(of);
}

/* What was noted of @of is of @to. */
static void element_join(struct merged_element *to, struct merged_element *of)
{
	set_join(&to->have, &of->have);
	set_join(&to->discarded, &of->discarded);
	if (of->begun && (!to->begun || of->next < to->next))
		to->next = of->next;
	to->end = of->end > to->end ? of->end : to->end;
	to->begun |= of->begun;
	if (!to->first.known) {
		to->first = of->first;
		to->newest = of->newest;
	}
	of->next = of->end = 0;
	of->begun = false;
	of->same = to;
}

struct merged_element *merged_call(struct merged *m, struct merged_element *of, const char *text)
{
	size_t length = strlen(text);
	struct merged_name *name = name_find(m, text);
	struct merged_element *known = name ? merged_self(name->of) : NULL;

	of = merged_self(of);
	if (known && known != of)
		element_join(known, of);
	if (known)
		return known;
	name = memory_new(1, sizeof(*name) + length + 1);
	memcpy(name->text, text, length);
	name->of = of;
	HASH_ADD_KEYPTR(hh, m->names, name->text, length, name);
	return of;
}

struct merged_element *merged_get(struct merged *m, const char *text)
{
	const struct merged_name *name = name_find(m, text);
	struct merged_element *of;

	if (name)
		return merged_self(name->of);
	of = memory_new(1, sizeof(*of));
	TAILQ_INIT(&of->held);
	STAILQ_INSERT_TAIL(&m->elements, of, entry);
	merged_call(m, of, text);
	return of;
}

static void element_free(struct merged_element *of)
{
	struct merged_held *held;

	while ((held = TAILQ_FIRST(&of->held))) {
		TAILQ_REMOVE(&of->held, held, entry);
		free(held);
	}
	interval_set_fini(&of->have);
	interval_set_fini(&of->discarded);
	free(of);
}

void merged_fini(struct merged *m)
{
	struct merged_element *of;
	struct merged_name *name, *next;

	HASH_ITER(hh, m->names, name, next)
	{
		HASH_DEL(m->names, name);
		free(name);
	}
	while ((of = STAILQ_FIRST(&m->elements))) {
		STAILQ_REMOVE_HEAD(&m->elements, entry);
		element_free(of);
	}
}

/* ---- the first reading ---- */

static struct merged_piece piece_of(const struct run_view *view, const struct clock_line *line)
{
	struct merged_piece piece = {
		.line = line,
		.tuples = view->tuples,
		.bytes = sizeof(struct tuple),
		.first = view->run->first,
		.count = view->run->count,
	};
	struct typed_run run;

	if (view->run->kind != RUN_TYPED)
		return piece;
	typed_own(view->typed_words, view->run->count);
	piece.head = view->typed_words;
	piece.count = 0;
	if (!typed_read(&run, view->typed_words, view->run->count))
		return piece;
	piece.head_words = (uint32_t)(run.tuples - piece.head);
	piece.tuples = run.tuples;
	piece.bytes = run.words * sizeof(*run.tuples);
	piece.count = run.n;
	return piece;
}

/* Of a program's own element: when tuple @number was written, if that is known. */
static struct merged_mark mark_of(const struct merged_piece *piece, uint64_t number)
{
	const char *tuple = (const char *)piece->tuples + (number - piece->first) * piece->bytes;
	const uint64_t ticks = typed_ticks((const void *)tuple);

	return (struct merged_mark){number, clock_line_ns(piece->line, ticks),
				    piece->line->error_ns, ticks != 0};
}

/* Can both be of one element? Tuples are written in the order of their numbers. */
static bool is_alike(const struct merged_mark *a, const struct merged_mark *b)
{
	const double ns = (double)a->ns - (double)b->ns;
	const double most = ANEW_NS + a->error_ns + b->error_ns;

	return !a->known || !b->known ||
	       ((a->number < b->number || ns >= -most) && (a->number > b->number || ns <= most));
}

/* Are the tuples that are known, and those in this run, of one element? */
static bool is_same(struct merged_element *of, const struct merged_piece *piece)
{
	const struct merged_mark *marks[] = {&of->first, &of->newest};
	const uint64_t last = piece->first + piece->count - 1;
	struct merged_mark mark;
	bool same = true;

	if (!piece->head || piece->count == 0)
		return true;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const uint64_t at = marks[i]->number, from = at < last ? at : last;

		/* the same tuple, or the nearest one */
		mark = mark_of(piece, from > piece->first ? from : piece->first);
		same = same && is_alike(&mark, marks[i]);
	}
	mark = mark_of(piece, piece->first);
	of->first = of->first.known ? of->first : mark;
	mark = mark_of(piece, last);
	if (mark.known && (!of->newest.known || mark.number > of->newest.number))
		of->newest = mark;
	return same;
}

bool merged_note(struct merged_element *of, const struct run_view *view,
		 const struct clock_line *line)
{
	const struct merged_piece piece = piece_of(view, line);
	uint64_t first = piece.first, count = piece.count;
	uint64_t from = first - (view->lost < first ? view->lost : first);

	if (!is_same(of, &piece))
		return false;
	if (!of->begun || from < of->next)
		of->next = from;
	of->begun = true;
	if (first + count > of->end)
		of->end = first + count;
	if (view->run->flags & RUN_DISCARDED)
		interval_set_add(&of->discarded, from, first);
	if (count > 0)
		interval_set_add(&of->have, first, first + count);
	return true;
}

/* ---- the second one ---- */

/* The first number of the set that is @from or more. */
static uint64_t set_next(const struct interval_set *set, uint64_t from, uint64_t *to)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (set->items[mid].to <= from)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == set->n)
		return UINT64_MAX;
	if (to)
		*to = set->items[low].to;
	return set->items[low].from > from ? set->items[low].from : from;
}

/* Give the hole up to @end, which has what was discarded and what was lost. */
static void give_hole(struct merged *m, struct merged_element *of, uint64_t end, merged_give *give,
		      void *arg)
{
	while (of->next < end) {
		uint64_t to = end, from = set_next(&of->discarded, of->next, &to);
		struct merged_piece hole = {.discarded = from == of->next};

		hole.first = hole.discarded ? to : from;
		hole.first = hole.first < end ? hole.first : end;
		hole.count = hole.first - of->next;
		m->holes += hole.count;
		of->next = hole.first;
		give(arg, of, &hole);
	}
}

/* Give the tuples, unless others come before them; @all: whatever comes. Returns whether they are
 * done with. */
static bool give_tuples(struct merged *m, struct merged_element *of, struct merged_piece piece,
			bool all, merged_give *give, void *arg)
{
	uint64_t end = piece.first + piece.count, old;

	if (end <= of->next)
		return true;
	if (piece.first > of->next) {
		if (!all && set_next(&of->have, of->next, NULL) < piece.first)
			return false;
		give_hole(m, of, piece.first, give, arg);
	}
	old = of->next - piece.first;
	piece.first += old;
	piece.tuples = (const char *)piece.tuples + old * piece.bytes;
	piece.count -= old;
	of->next = end;
	give(arg, of, &piece);
	return true;
}

/* Those that wait are in ascending order. */
static void hold(struct merged_element *of, const struct merged_piece *piece)
{
	const size_t head = piece->head_words * sizeof(*piece->head);
	struct merged_held *held =
		memory_new(1, sizeof(*held) + head + piece->count * piece->bytes);
	struct merged_held *before;

	held->line = *piece->line;
	held->piece = *piece;
	held->piece.line = &held->line;
	held->piece.tuples =
		memcpy((char *)held->words + head, piece->tuples, piece->count * piece->bytes);
	if (piece->head)
		held->piece.head = memcpy(held->words, piece->head, head);
	TAILQ_FOREACH_REVERSE(before, &of->held, merged_list, entry)
	{
		if (before->piece.first <= piece->first)
			break;
	}
	if (before)
		TAILQ_INSERT_AFTER(&of->held, before, held, entry);
	else
		TAILQ_INSERT_HEAD(&of->held, held, entry);
}

static void give_held(struct merged *m, struct merged_element *of, bool all, merged_give *give,
		      void *arg)
{
	struct merged_held *held;

	while ((held = TAILQ_FIRST(&of->held))) {
		if (!give_tuples(m, of, held->piece, all, give, arg))
			return;
		TAILQ_REMOVE(&of->held, held, entry);
		free(held);
	}
}

void merged_take(struct merged *m, struct merged_element *of, const struct run_view *view,
		 const struct clock_line *line, merged_give *give, void *arg)
{
	const struct merged_piece piece = piece_of(view, line);

	if (piece.count == 0)
		return;
	if (give_tuples(m, of, piece, false, give, arg))
		give_held(m, of, false, give, arg);
	else
		hold(of, &piece);
}

void merged_end(struct merged *m, merged_give *give, void *arg)
{
	struct merged_element *of;

	STAILQ_FOREACH (of, &m->elements, entry) {
		give_held(m, of, true, give, arg);
		give_hole(m, of, of->end, give, arg);
	}
}
