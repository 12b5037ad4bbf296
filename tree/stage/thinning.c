/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps a window for each element, as it was before each of the runs that may come again. */
#include "tree/stage/thinning.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/sampling.h"
#include "tree/data/entropy-window.h"
#include "tree/data/op.h"

_Static_assert(SAMPLING_WINDOW_MOST <= ENTROPY_WINDOW_MAX, "there are tables for each window");

/* The window before a run. */
struct thinning_before {
	uint64_t first; /* number of the run's first tuple */
	struct entropy_window window;
};

struct thinned {
	UT_hash_handle hh;
	uint32_t element;
	uint32_t n, room;	      /* of the runs; when there is no more room, the oldest goes */
	uint64_t runs;		      /* so far */
	uint64_t next;		      /* number of the next tuple, at least */
	struct entropy_window window; /* after the newest */
	struct thinning_before *before;
};

struct thinning {
	struct sampling sampling;
	struct entropy_table table;
	struct thinned *elements;
	size_t windows; /* that there is room for beyond the first of each element */
};

struct thinning *thinning_new(const char *args, struct error *e)
{
	struct thinning *t = memory_new(1, sizeof(*t));

	if (sampling_parse(&t->sampling, args, false, e) < 0) {
		free(t);
		return NULL;
	}
	entropy_table_init(&t->table, t->sampling.window, 1, NULL);
	return t;
}

void thinning_free(struct thinning *t)
{
	struct thinned *k, *next;

	if (!t)
		return;
	HASH_ITER(hh, t->elements, k, next)
	{
		HASH_DEL(t->elements, k);
		free(k->before);
		free(k);
	}
	free(t);
}

/* ---- windows ---- */

/* NULL: there are too many. */
static struct thinned *thinned_at(struct thinning *t, uint32_t element)
{
	struct thinned *k;

	HASH_FIND(hh, t->elements, &element, sizeof(element), k);
	if (k || HASH_COUNT(t->elements) == THINNING_ELEMENTS)
		return k;
	k = memory_new(1, sizeof(*k));
	k->element = element;
	HASH_ADD(hh, t->elements, element, sizeof(k->element), k);
	return k;
}

/* The run that began with tuple @first, or NULL. */
static const struct thinning_before *thinned_before(const struct thinned *k, uint64_t first)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (k->before[i].first == first)
			return &k->before[i];
	return NULL;
}

/* More room for runs of an element, unless there is enough, or too much of all of them. */
static void thinned_grow(struct thinning *t, struct thinned *k)
{
	uint32_t more = k->room ? k->room : THINNING_LEAST;

	if (k->room == THINNING_WAVES || (k->room && t->windows + more > THINNING_WINDOWS))
		return;
	t->windows += k->room ? more : 0;
	k->room += more;
	k->before = reallocarray(k->before, k->room, sizeof(*k->before));
	if (!k->before)
		abort();
}

static void thinned_note(struct thinning *t, struct thinned *k, uint64_t first)
{
	if (k->n == k->room && k->runs == k->n)
		thinned_grow(t, k);
	k->before[k->runs % k->room] = (struct thinning_before){first, k->window};
	k->n += k->n < k->room;
	k->runs++;
}

/* ---- tuples ---- */

/* What the window sees of a tuple: its operation, or the region that it is. */
static uint32_t tuple_event(const struct tuple *t)
{
	return op_is_labelled(t->op) ? t->seq_or_tag | UINT32_C(1) << 31 : t->op;
}

/* 1 by what can happen: the operations of the element's group, which the library knows before. */
static double tuple_p(const struct thinning *t, const struct names *names,
		      const struct run_view *view)
{
	const struct name *name = names_find(names, view->run->element);
	bool of_group = name && name->level == LEVEL_ELEMENT && name->channel < CHANNEL_COUNT;
	unsigned n = t->sampling.events;

	if (n == 0)
		n = op_count(view->tuples[0].op, of_group ? name->channel : -1);
	return 1.0 / (n > 1 ? n : 2);
}

uint32_t thinning_choose(struct thinning *t, const struct names *names, const struct run_view *view,
			 bool *keep)
{
	struct thinned *k = thinned_at(t, view->run->element);
	const struct thinning_before *again = k ? thinned_before(k, view->run->first) : NULL;
	bool is_new = k && !again && view->run->first >= k->next;
	struct entropy_window window = {0};
	double p = tuple_p(t, names, view);
	double threshold =
		t->sampling.threshold > 0 ? t->sampling.threshold : entropy_threshold(&t->table, p);
	uint32_t kept = 0;

	if (again)
		window = again->window;
	else if (is_new)
		window = k->window;
	if (is_new)
		thinned_note(t, k, view->run->first);
	for (uint32_t i = 0; i < view->run->count; i++) {
		uint32_t event = tuple_event(&view->tuples[i]);
		bool changes = window.any && window.last != event;

		keep[i] = entropy_window_next(&t->table, &window, event, p) > threshold;
		kept += keep[i];
		if (i > 0 && changes && !keep[i - 1]) {
			keep[i - 1] = true;
			kept++;
		}
	}
	if (is_new) {
		k->window = window;
		k->next = view->run->first + view->run->count;
	}
	return kept;
}
