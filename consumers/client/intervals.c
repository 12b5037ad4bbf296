/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps for each element the next expected number, and the gaps before it. */
#include "consumers/client/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"

/* Most gaps remembered for each element; a source that makes more is faulty, and tuples in its
 * oldest gaps stay missing. */
#define GAPS_MAX 4096u

/* Most elements without an id of which it is remembered what has come. */
#define PARKED_MAX 65536u

/* An element by its name, which it keeps when a leaf numbers its elements anew. */
struct called {
	struct element *element;
	UT_hash_handle hh;
	char text[];
};

struct element {
	uint32_t id;
	bool begun;	       /* `next` is known */
	bool forgotten;	       /* `next` is void */
	bool parked;	       /* it has no id now */
	struct called *called; /* NULL: nobody has said its name, or another execution has it */
	uint64_t born;	       /* its execution; 0: unknown */
	uint64_t next;
	struct interval_set gaps;
	uint64_t buried; /* tuples in gaps that are no longer remembered */
	UT_hash_handle hh;
};

struct intervals {
	struct element *elements;
	struct element *last; /* taken last: the next one is mostly the same */
	struct called *called;
	size_t n_parked;
};

struct intervals *intervals_new(void)
{
	return memory_new(1, sizeof(struct intervals));
}

static void element_free(struct intervals *numbers, struct element *e)
{
	if (e->called) {
		HASH_DEL(numbers->called, e->called);
		free(e->called);
	}
	interval_set_fini(&e->gaps);
	free(e);
}

void intervals_free(struct intervals *numbers)
{
	struct element *e, *next;
	struct called *called, *after;

	if (!numbers)
		return;
	HASH_ITER(hh, numbers->elements, e, next)
	{
		HASH_DEL(numbers->elements, e);
		element_free(numbers, e);
	}
	/* those that are parked */
	HASH_ITER(hh, numbers->called, called, after)
	element_free(numbers, called->element);
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
		HASH_ADD(hh, numbers->elements, id, sizeof(id), e);
	}
	if (!e->begun)
		e->next = begin;
	e->begun = true;
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

/* ---- names ---- */

/* It has no id any more, until its name is said again. */
static void element_park(struct intervals *numbers, struct element *e)
{
	HASH_DEL(numbers->elements, e);
	numbers->last = NULL;
	if (!e->called || numbers->n_parked >= PARKED_MAX) {
		element_free(numbers, e);
		return;
	}
	e->parked = true;
	numbers->n_parked++;
}

/* Its name is no longer its own. */
static void element_uncall(struct intervals *numbers, struct element *e)
{
	if (e->called) {
		HASH_DEL(numbers->called, e->called);
		free(e->called);
	}
	e->called = NULL;
	if (e->parked) {
		numbers->n_parked--;
		element_free(numbers, e);
	}
}

static void element_call(struct intervals *numbers, struct element *e, const char *text)
{
	size_t length = strlen(text);

	if (e->called) {
		HASH_DEL(numbers->called, e->called);
		free(e->called);
	}
	e->called = memory_new(1, sizeof(*e->called) + length + 1);
	memcpy(e->called->text, text, length);
	e->called->element = e;
	HASH_ADD_KEYPTR(hh, numbers->called, e->called->text, length, e->called);
}

/* Has any element the name? It may be of a later execution than one that is said again. */
static bool is_called(const struct intervals *numbers, const char *text)
{
	struct called *called;

	HASH_FIND_STR(numbers->called, text, called);
	return called != NULL;
}

/* The element of that name, if it is of the execution @born; *@another: it is of another one. */
static struct element *element_called(struct intervals *numbers, const char *text, uint64_t born,
				      bool *another)
{
	struct called *called;

	HASH_FIND_STR(numbers->called, text, called);
	*another = called && born && called->element->born && called->element->born != born;
	if (*another)
		element_uncall(numbers, called->element);
	return called && !*another ? called->element : NULL;
}

/* The element @e has no id any more, or another one than @id. */
static void element_unnumber(struct intervals *numbers, struct element *e)
{
	if (!e->parked)
		HASH_DEL(numbers->elements, e);
	else
		numbers->n_parked--;
	e->parked = false;
}

enum intervals_known intervals_call(struct intervals *numbers, uint32_t id, const char *text,
				    uint64_t born, bool renamed)
{
	struct element *e = element_find(numbers, id), *before;
	const bool same = e && renamed && (!born || !e->born || born == e->born);
	bool another;

	if (same && !e->called && e->born && is_called(numbers, text))
		return INTERVALS_KNOWN;
	before = element_called(numbers, text, born, &another);
	if (!before && !another && same) {
		element_call(numbers, e, text);
		e->born = born ? born : e->born;
		return INTERVALS_KNOWN;
	}
	if (before != e || !e) {
		if (e)
			element_park(numbers, e);
		if (before)
			element_unnumber(numbers, before);
		e = before ? before : memory_new(1, sizeof(*e));
		e->id = id;
		HASH_ADD(hh, numbers->elements, id, sizeof(id), e);
		numbers->last = NULL;
		if (!before)
			element_call(numbers, e, text);
	}
	e->born = born ? born : e->born;
	return another ? INTERVALS_ANOTHER : before ? INTERVALS_KNOWN : INTERVALS_NEW;
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
