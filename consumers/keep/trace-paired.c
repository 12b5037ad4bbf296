/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through what threads have done without messages of which nobody knows what belongs to them.
 */
#include "consumers/keep/pairing.h"
#include "consumers/keep/trace.h"

struct paired_walk {
	struct trace_run *trace;
	const struct trace_visitor *visitor; /* NULL: messages are counted */
	const struct trace_thread *thread;
};

static int on_begin(void *arg, const struct trace_thread *thread, struct error *e)
{
	struct paired_walk *w = arg;
	const struct trace_visitor *v = w->visitor;

	w->thread = thread;
	return v && v->begin ? v->begin(v->arg, thread, e) : 0;
}

static int on_end(void *arg, const struct trace_thread *thread, struct error *e)
{
	const struct trace_visitor *v = ((struct paired_walk *)arg)->visitor;

	return v && v->end ? v->end(v->arg, thread, e) : 0;
}

static void on_enter(void *arg, int64_t ns, const struct trace_event *ev)
{
	const struct trace_visitor *v = ((struct paired_walk *)arg)->visitor;

	if (v)
		v->enter(v->arg, ns, ev);
}

static void on_leave(void *arg, int64_t ns, const struct trace_event *ev)
{
	const struct trace_visitor *v = ((struct paired_walk *)arg)->visitor;

	if (v)
		v->leave(v->arg, ns, ev);
}

static void on_message(void *arg, int64_t ns, const struct trace_event *ev)
{
	struct paired_walk *w = arg;
	bool received = ev->message == MESSAGE_RECEIVED;
	int32_t rank = w->thread->rank;
	const struct pairing_side side = {.channel = {.from = received ? ev->peer : rank,
						      .to = received ? rank : ev->peer,
						      .tag = ev->seq_or_tag,
						      .comm = ev->comm},
					  .ns = ns,
					  .thread = w->thread->number,
					  .received = received};
	uint64_t number;

	if (!w->visitor) {
		pairing_count(w->trace->pairing, &side);
		return;
	}
	number = pairing_number(w->trace->pairing, &side);
	w->trace->alone += number == PAIRING_ALONE;
	w->trace->unknown += number == PAIRING_UNKNOWN;
	if (number < PAIRING_UNKNOWN)
		w->visitor->message(w->visitor->arg, ns, ev);
}

int trace_walk_paired(struct trace_run *t, const struct trace_visitor *visitor, struct error *e)
{
	struct paired_walk w = {.trace = t};
	const struct trace_visitor ours = {on_begin, on_end, on_enter, on_leave, on_message, &w};

	if (!t->holes)
		return trace_walk(t, visitor, e);
	pairing_by_thread(t->pairing);
	if (trace_walk(t, &ours, e) < 0)
		return -1;
	w.visitor = visitor;
	return trace_walk(t, &ours, e);
}
