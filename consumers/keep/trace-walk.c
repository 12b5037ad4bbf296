/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through the events of a thread as calls that enclose each other, and messages. */
#include "consumers/keep/trace.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A message, at its time. */
struct moment {
	int64_t ns;
	const struct trace_event *ev;
	enum message what;
};

struct walk {
	const struct trace_visitor *visitor;
	const struct trace_event **open; /* calls that the thread is in, the outermost first */
	int64_t *ends;
	size_t n_open, room;
	struct moment *moments;
	size_t n_moments, next;
	int64_t last_ns;
};

/* ---- messages ---- */

static bool is_call(const struct trace_event *ev)
{
	return !(ev->flags & (EVSPACE_COMPLETION | EVSPACE_REGION));
}

static int by_time(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? 1 : -1;
	return (x->ev > y->ev) - (x->ev < y->ev);
}

static void moments_make(struct walk *w, const struct trace_thread *thread)
{
	w->moments = calloc(thread->n + 1, sizeof(*w->moments));
	if (!w->moments)
		abort();
	for (size_t i = 0; i < thread->n; i++) {
		const struct trace_event *ev = &thread->events[i];
		enum message what = (enum message)ev->message;

		if (what == MESSAGE_NONE)
			continue;
		w->moments[w->n_moments++] = (struct moment){
			.ns = what == MESSAGE_SENT ? ev->start_ns : ev->end_ns,
			.ev = ev,
			.what = what,
		};
	}
	qsort(w->moments, w->n_moments, sizeof(*w->moments), by_time);
}

/* ---- time goes on ---- */

static int64_t now(struct walk *w, int64_t ns)
{
	w->last_ns = ns > w->last_ns ? ns : w->last_ns;
	return w->last_ns;
}

/* Messages before @ns; @with: at it, too. */
static void messages_until(struct walk *w, int64_t ns, bool with)
{
	while (w->next < w->n_moments &&
	       (w->moments[w->next].ns < ns || (with && w->moments[w->next].ns == ns))) {
		const struct moment *m = &w->moments[w->next++];

		w->visitor->message(w->visitor->arg, now(w, m->ns), m->ev, m->what);
	}
}

/* Leave what has ended by then. */
static void leave_until(struct walk *w, int64_t ns)
{
	while (w->n_open > 0 && w->ends[w->n_open - 1] <= ns) {
		w->n_open--;
		messages_until(w, w->ends[w->n_open], true);
		w->visitor->leave(w->visitor->arg, now(w, w->ends[w->n_open]), w->open[w->n_open]);
	}
}

/* What ends behind the call that it is in ends with that: events of a thread enclose each other,
 * but for what clocks of two readings differ by. */
static void enter(struct walk *w, const struct trace_event *ev)
{
	int64_t end = ev->end_ns;

	if (w->n_open == w->room) {
		w->room = w->room ? 2 * w->room : 16;
		w->open = reallocarray(w->open, w->room, sizeof(struct trace_event *));
		w->ends = reallocarray(w->ends, w->room, sizeof(*w->ends));
		if (!w->open || !w->ends)
			abort();
	}
	if (w->n_open > 0 && w->ends[w->n_open - 1] < end)
		end = w->ends[w->n_open - 1];
	messages_until(w, ev->start_ns, false);
	w->visitor->enter(w->visitor->arg, now(w, ev->start_ns), ev);
	w->open[w->n_open] = ev;
	w->ends[w->n_open++] = end;
}

void trace_walk(const struct trace_thread *thread, const struct trace_visitor *visitor)
{
	struct walk w = {.visitor = visitor, .last_ns = INT64_MIN};

	moments_make(&w, thread);
	for (size_t i = 0; i < thread->n; i++) {
		if (!is_call(&thread->events[i]))
			continue;
		leave_until(&w, thread->events[i].start_ns);
		enter(&w, &thread->events[i]);
	}
	leave_until(&w, INT64_MAX);
	messages_until(&w, INT64_MAX, true);
	free(w.moments);
	free(w.open);
	free(w.ends);
}
