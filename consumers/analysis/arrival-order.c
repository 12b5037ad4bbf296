/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps calls for a turn, sorts their starts, and goes through each thread's own. */
#include "consumers/analysis/arrival-order.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"

/* Where the calls of a thread are, and where some are missing. */
struct order_mark {
	int64_t at_ns;
	uint32_t thread, call; /* its place in `calls` */
	/* in this order at the same time: what begins and ends with a call is missing there */
	enum { MARK_MISSING, MARK_CALL, MARK_THERE } what;
};

/* What has come of an element. */
struct order_element {
	uint64_t next;
	int64_t ended_ns; /* its last call */
};

/* How far a thread has come. */
struct order_thread {
	int64_t ended_ns; /* its last call */
	uint32_t missing; /* elements of which some are, here */
	bool ended;	  /* it had one */
	bool unknown;	  /* of its elements not all calls come, and nobody says which */
};

struct arrival_order {
	size_t most;
	arrival_order_take *take;
	void *arg;
	struct arrival_call *calls;
	size_t n;
	struct order_mark *marks;
	size_t n_marks;
	struct order_element *elements;
	size_t n_elements;
	struct order_thread *threads;
	size_t n_threads;
};

struct arrival_order *arrival_order_new(size_t most, arrival_order_take *take, void *arg)
{
	struct arrival_order *o = memory_new(1, sizeof(*o));

	o->most = most;
	o->take = take;
	o->arg = arg;
	return o;
}

void arrival_order_free(struct arrival_order *o)
{
	if (!o)
		return;
	free(o->calls);
	free(o->marks);
	free(o->elements);
	free(o->threads);
	free(o);
}

/* ---- what comes ---- */

static struct order_element *element_of(struct arrival_order *o, uint32_t element)
{
	while (o->n_elements <= element) {
		o->elements = memory_room(o->elements, o->n_elements, sizeof(*o->elements));
		o->elements[o->n_elements++] = (struct order_element){.ended_ns = INT64_MIN};
	}
	return &o->elements[element];
}

static struct order_thread *thread_of(struct arrival_order *o, uint32_t thread)
{
	while (o->n_threads <= thread) {
		o->threads = memory_room(o->threads, o->n_threads, sizeof(*o->threads));
		o->threads[o->n_threads++] = (struct order_thread){0};
	}
	return &o->threads[thread];
}

static void mark(struct arrival_order *o, const struct arrival_call *call, int what, int64_t at_ns)
{
	o->marks = memory_room(o->marks, o->n_marks, sizeof(*o->marks));
	o->marks[o->n_marks++] = (struct order_mark){at_ns, call->thread, (uint32_t)o->n, what};
}

/* Since when calls of its element are missing before @call, if so. */
static void mark_missing(struct arrival_order *o, const struct arrival_call *call)
{
	struct order_element *e = element_of(o, call->element);

	if (call->number != e->next && call->number != UINT64_MAX) {
		mark(o, call, MARK_MISSING, e->ended_ns);
		mark(o, call, MARK_THERE, call->arrival.start_ns);
	}
	e->next = call->number + 1;
	e->ended_ns = call->arrival.end_ns;
}

/* ---- passing on ---- */

static int compare_marks(const void *a, const void *b)
{
	const struct order_mark *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns > y->at_ns ? 1 : -1;
	if (x->what != y->what)
		return x->what > y->what ? 1 : -1;
	return (x->call > y->call) - (x->call < y->call);
}

/* How long was its thread in none before? -1: not known. @all: whatever was before has come. */
static int64_t between(struct order_thread *t, const struct arrival_call *call, bool all)
{
	const struct arrival *a = &call->arrival;
	int64_t ns;
	const bool known = t->ended && !t->missing && !t->unknown &&
			   !__builtin_sub_overflow(a->start_ns, t->ended_ns, &ns) && ns >= 0;

	if (!t->ended || a->end_ns > t->ended_ns)
		t->ended_ns = a->end_ns;
	t->ended = true;
	return known && (all || !call->split) ? ns : -1;
}

static void pass(struct arrival_order *o, bool all)
{
	if (o->n_marks > 1)
		qsort(o->marks, o->n_marks, sizeof(*o->marks), compare_marks);
	for (size_t i = 0; i < o->n_marks; i++) {
		const struct order_mark *m = &o->marks[i];
		struct order_thread *t = thread_of(o, m->thread);
		struct arrival_call *call = &o->calls[m->call];

		t->missing += m->what == MARK_MISSING;
		t->missing -= m->what == MARK_THERE;
		if (m->what != MARK_CALL)
			continue;
		call->arrival.between_ns = between(t, call, all);
		if (call->joined)
			o->take(o->arg, &call->key, &call->arrival);
	}
	o->n = o->n_marks = 0;
}

void arrival_order_add(struct arrival_order *o, const struct arrival_call *call)
{
	if (o->n == o->most)
		pass(o, false);
	mark_missing(o, call);
	thread_of(o, call->thread)->unknown |= call->number == UINT64_MAX;
	mark(o, call, MARK_CALL, call->arrival.start_ns);
	o->calls = memory_room(o->calls, o->n, sizeof(*o->calls));
	o->calls[o->n++] = *call;
}

void arrival_order_turn(struct arrival_order *o)
{
	pass(o, true);
}
