/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through what threads have done as calls that enclose each other, and messages. */
#include "consumers/keep/trace.h"

#include <stdlib.h>

#include "consumers/keep/spill.h"
#include "pathmap/base/memory.h"

/* A thread is in so many calls at once at most: a file may say what cannot be. */
#define DEPTH 256u

struct walk {
	struct trace_run *trace;
	const struct trace_visitor *visitor;
	const struct trace_thread *thread; /* NULL: none yet */
	struct trace_event *open;	   /* calls that it is in, the outermost first */
	size_t n_open;
	int64_t last_ns;
	uint64_t done;
};

static int64_t now(struct walk *w, int64_t ns)
{
	w->last_ns = ns > w->last_ns ? ns : w->last_ns;
	return w->last_ns;
}

static void leave(struct walk *w, int64_t ns)
{
	const struct trace_event *ev = &w->open[--w->n_open];

	w->visitor->leave(w->visitor->arg, now(w, ns), ev);
}

/* Leave what has ended by then; @with: or at that time. */
static void leave_until(struct walk *w, int64_t ns, bool with)
{
	while (w->n_open > 0) {
		int64_t end = w->open[w->n_open - 1].end_ns;

		if (end > ns || (end == ns && !with))
			return;
		leave(w, end);
	}
}

/* What ends behind the call that it is in ends with that: events of a thread enclose each other,
 * but for what clocks of two readings differ by. */
static void enter(struct walk *w, const struct trace_event *ev)
{
	struct trace_event *to;

	leave_until(w, ev->start_ns, true);
	if (w->n_open == DEPTH)
		leave(w, ev->start_ns);
	to = &w->open[w->n_open++];
	*to = *ev;
	if (w->n_open > 1 && to[-1].end_ns < to->end_ns)
		to->end_ns = to[-1].end_ns;
	w->visitor->enter(w->visitor->arg, now(w, ev->start_ns), ev);
}

static int thread_end(struct walk *w, struct error *e)
{
	const struct trace_visitor *v = w->visitor;

	leave_until(w, INT64_MAX, true);
	return w->thread && v->end ? v->end(v->arg, w->thread, e) : 0;
}

static int thread_begin(struct walk *w, const struct trace_thread *thread, struct error *e)
{
	const struct trace_visitor *v = w->visitor;

	if (thread_end(w, e) < 0)
		return -1;
	w->thread = thread;
	w->last_ns = INT64_MIN;
	return v->begin ? v->begin(v->arg, thread, e) : 0;
}

static int step(struct walk *w, const struct trace_event *ev, struct error *e)
{
	const struct trace_thread *thread = w->trace->by_number[ev->thread];
	int64_t at = trace_at(ev);

	if (thread != w->thread && thread_begin(w, thread, e) < 0)
		return -1;
	if (ev->message == MESSAGE_NONE) {
		enter(w, ev);
	} else {
		leave_until(w, at, false);
		w->visitor->message(w->visitor->arg, now(w, at), ev);
	}
	return trace_step(w->trace, "calls and messages in order", ++w->done,
			  spill_count(w->trace->moments), e);
}

int trace_walk(struct trace_run *t, const struct trace_visitor *visitor, struct error *e)
{
	struct walk w = {.trace = t, .visitor = visitor};
	struct trace_event ev;
	int rc;

	spill_again(t->moments);
	w.open = memory_new(DEPTH, sizeof(*w.open));
	while ((rc = spill_next(t->moments, &ev, e)) > 0 && (rc = step(&w, &ev, e)) == 0)
		;
	if (rc == 0)
		rc = thread_end(&w, e);
	free(w.open);
	return rc;
}
