/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps for each element the next number that is expected, and the gaps before it. */
#include "consumers/client/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* Gaps that are remembered one by one in each element; a source that makes more is out of its mind,
 * and what lies in the oldest stays a gap. */
#define GAPS_MAX 4096u

struct element {
	uint32_t id;
	bool forgotten; /* `next` says nothing */
	uint64_t next;
	struct interval_set gaps;
	uint64_t buried; /* in gaps that are not remembered */
	UT_hash_handle hh;
};

struct intervals {
	struct element *elements;
	struct element *last; /* that was taken: the next one is the same, mostly */
};

/* ---- spans ---- */

void interval_set_fini(struct interval_set *s)
{
	free(s->items);
	*s = (struct interval_set){0};
}

/* The first span that ends at @number or behind it. */
static size_t interval_set_find(const struct interval_set *s, uint64_t number)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].to < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Replace @n spans at @at by @with_n others. */
static void interval_set_replace(struct interval_set *s, size_t at, size_t n,
				 const struct interval *with, size_t with_n)
{
	if (s->n - n + with_n > s->room) {
		s->room = s->room ? 2 * s->room : 4;
		s->items = reallocarray(s->items, s->room, sizeof(*s->items));
		if (!s->items)
			abort();
	}
	if (s->n - at - n > 0)
		memmove(s->items + at + with_n, s->items + at + n,
			(s->n - at - n) * sizeof(*s->items));
	for (size_t i = 0; i < with_n; i++)
		s->items[at + i] = with[i];
	s->n = s->n - n + with_n;
}

void interval_set_add(struct interval_set *s, uint64_t from, uint64_t to)
{
	size_t at = interval_set_find(s, from), end = at;
	struct interval whole = {from, to};

	if (from >= to)
		return;
	while (end < s->n && s->items[end].from <= to) {
		whole.from = s->items[end].from < whole.from ? s->items[end].from : whole.from;
		whole.to = s->items[end].to > whole.to ? s->items[end].to : whole.to;
		end++;
	}
	interval_set_replace(s, at, end - at, &whole, 1);
}

uint64_t interval_set_remove(struct interval_set *s, uint64_t from, uint64_t to)
{
	size_t at = interval_set_find(s, from + 1), end = at, n = 0;
	struct interval rest[2];
	uint64_t removed = 0;

	if (from >= to)
		return 0;
	for (; end < s->n && s->items[end].from < to; end++) {
		struct interval *old = &s->items[end];
		uint64_t low = old->from > from ? old->from : from;
		uint64_t high = old->to < to ? old->to : to;

		removed += high - low;
		if (old->from < low)
			rest[n++] = (struct interval){old->from, low};
		if (high < old->to)
			rest[n++] = (struct interval){high, old->to};
	}
	if (end > at)
		interval_set_replace(s, at, end - at, rest, n);
	return removed;
}

bool interval_set_have(const struct interval_set *s, uint64_t number)
{
	size_t at = interval_set_find(s, number + 1);

	return at < s->n && s->items[at].from <= number;
}

/* ---- elements ---- */

struct intervals *intervals_new(void)
{
	return memory_new(1, sizeof(struct intervals));
}

void intervals_free(struct intervals *numbers)
{
	struct element *e, *next;

	if (!numbers)
		return;
	HASH_ITER(hh, numbers->elements, e, next)
	{
		HASH_DEL(numbers->elements, e);
		interval_set_fini(&e->gaps);
		free(e);
	}
	free(numbers);
}

static struct element *element_find(const struct intervals *numbers, uint32_t id)
{
	struct element *e = numbers->last;

	if (!e || e->id != id)
		HASH_FIND(hh, numbers->elements, &id, sizeof(id), e);
	return e;
}

static struct element *element_get(struct intervals *numbers, uint32_t id, uint64_t begin)
{
	struct element *e = element_find(numbers, id);

	if (!e) {
		e = memory_new(1, sizeof(*e));
		e->id = id;
		e->next = begin;
		HASH_ADD(hh, numbers->elements, id, sizeof(id), e);
	}
	numbers->last = e;
	return e;
}

uint64_t intervals_take(struct intervals *numbers, uint32_t id, uint64_t begin, uint64_t from,
			uint64_t to)
{
	struct element *e = element_get(numbers, id, begin);
	uint64_t fresh = 0;

	if (e->forgotten)
		e->next = from;
	e->forgotten = false;
	if (from > e->next) {
		if (e->gaps.n >= GAPS_MAX) {
			e->buried += e->gaps.items[0].to - e->gaps.items[0].from;
			interval_set_remove(&e->gaps, e->gaps.items[0].from, e->gaps.items[0].to);
		}
		interval_set_add(&e->gaps, e->next, from);
		e->next = from;
	}
	if (to > e->next) {
		fresh = to - e->next;
		to = e->next;
		e->next += fresh;
	}
	return fresh + (e->gaps.n ? interval_set_remove(&e->gaps, from, to) : 0);
}

uint32_t intervals_take_run(struct intervals *numbers, const struct run_view *view, bool backlog,
			    uint64_t *lost)
{
	uint64_t first = view->run->first, gap = view->lost < first ? view->lost : first;
	uint64_t begin = backlog ? 0 : first - gap;

	*lost = intervals_take(numbers, view->run->element, begin, first - gap, first);
	if (view->run->count == 0)
		return 0;
	return (uint32_t)intervals_take(numbers, view->run->element, begin, first,
					first + view->run->count);
}

void intervals_forget(struct intervals *numbers, uint32_t id)
{
	element_get(numbers, id, 0)->forgotten = true;
}

uint64_t intervals_gaps(const struct intervals *numbers,
			bool (*counts)(void *arg, uint32_t element), void *arg)
{
	const struct element *e;
	uint64_t sum = 0;

	for (e = numbers->elements; e; e = e->hh.next) {
		if (!counts(arg, e->id))
			continue;
		sum += e->buried;
		for (size_t i = 0; i < e->gaps.n; i++)
			sum += e->gaps.items[i].to - e->gaps.items[i].from;
	}
	return sum;
}
