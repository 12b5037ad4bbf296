/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the call that a message was waited for in by the end that both have in common. */
#include "consumers/analysis/message-wait.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

/* Each thread may have so many calls in any case. */
#define CALLS_LEAST 64u

/* Ends that are the same may be told apart so far, as clocks are known better from wave to wave,
 * beside what they may be off anyway, up to: */
#define SAME_NS	     1000.0
#define SAME_MOST_NS 100000.0

struct waiting_call {
	int64_t start_ns, end_ns;
};

struct waiting_thread {
	struct waiting_call *calls; /* by their ends */
	size_t n;
	bool fresh; /* some have come since the last look */
};

struct waiting_message {
	uint32_t comm;
	struct message_side sent, received;
};

struct message_waits {
	size_t most_calls, most;
	message_waits_take *take;
	void *arg;
	struct waiting_thread *threads;
	size_t n_threads;
	struct waiting_message *messages; /* in the order of coming */
	size_t n;
	uint64_t unknown;
};

struct message_waits *message_waits_new(size_t calls, size_t messages, message_waits_take *take,
					void *arg)
{
	struct message_waits *w = memory_new(1, sizeof(*w));

	w->most_calls = calls;
	w->most = messages;
	w->take = take;
	w->arg = arg;
	return w;
}

void message_waits_free(struct message_waits *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_threads; i++)
		free(w->threads[i].calls);
	free(w->threads);
	free(w->messages);
	free(w);
}

/* ---- calls ---- */

/* The index of the first call that ends at @ns or later. */
static size_t call_at(const struct waiting_thread *t, int64_t ns)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->calls[middle].end_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void message_waits_call(struct message_waits *w, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	struct waiting_thread *t;
	size_t at, each, half;

	while (w->n_threads <= thread) {
		w->threads = memory_room(w->threads, w->n_threads, sizeof(*w->threads));
		w->threads[w->n_threads++] = (struct waiting_thread){0};
	}
	t = &w->threads[thread];
	each = w->most_calls / w->n_threads;
	if (t->n >= (each > CALLS_LEAST ? each : CALLS_LEAST)) {
		half = t->n / 2;
		memmove(t->calls, &t->calls[half], (t->n - half) * sizeof(*t->calls));
		t->n -= half;
	}
	t->calls = memory_room(t->calls, t->n, sizeof(*t->calls));
	at = call_at(t, end_ns);
	memmove(&t->calls[at + 1], &t->calls[at], (t->n - at) * sizeof(*t->calls));
	t->calls[at] = (struct waiting_call){start_ns, end_ns};
	t->n++;
	t->fresh = true;
}

static double apart(const struct waiting_call *call, int64_t ns)
{
	double off = (double)(call->end_ns - ns);

	return off < 0 ? -off : off;
}

/* The call of @thread that has ended when @received did; NULL: it has not come. */
static const struct waiting_call *call_find(const struct waiting_thread *t,
					    const struct arrival *received)
{
	const double most =
		SAME_NS + (received->error_ns < SAME_MOST_NS ? received->error_ns : SAME_MOST_NS);
	size_t at = call_at(t, received->end_ns);
	const struct waiting_call *call = at < t->n ? &t->calls[at] : NULL;

	if (at > 0 &&
	    (!call || apart(&t->calls[at - 1], received->end_ns) < apart(call, received->end_ns)))
		call = &t->calls[at - 1];
	return call && apart(call, received->end_ns) <= most ? call : NULL;
}

/* ---- messages ---- */

/* Tell of it, if its call is known. */
static bool message_tell(struct message_waits *w, const struct waiting_message *m)
{
	const struct waiting_thread *t =
		m->received.thread < w->n_threads ? &w->threads[m->received.thread] : NULL;
	const struct waiting_call *call = t ? call_find(t, &m->received.at) : NULL;
	struct message_side received = m->received;

	if (!call)
		return false;
	received.waits = true;
	if (call->start_ns > received.since_ns)
		received.since_ns = call->start_ns;
	w->take(w->arg, m->comm, &m->sent, &received);
	return true;
}

static void message_leave(struct message_waits *w, const struct waiting_message *m)
{
	struct message_side received = m->received;

	received.waits = false;
	w->unknown++;
	w->take(w->arg, m->comm, &m->sent, &received);
}

void message_waits_add(struct message_waits *w, uint32_t comm, const struct message_side *sent,
		       const struct message_side *received)
{
	const struct waiting_message m = {comm, *sent, *received};
	size_t half;

	if (message_tell(w, &m))
		return;
	if (w->n >= w->most)
		message_waits_turn(w);
	if (w->n >= w->most) {
		half = (w->n + 1) / 2;
		for (size_t i = 0; i < half; i++)
			message_leave(w, &w->messages[i]);
		w->n -= half;
		memmove(w->messages, &w->messages[half], w->n * sizeof(*w->messages));
	}
	w->messages = memory_room(w->messages, w->n, sizeof(*w->messages));
	w->messages[w->n++] = m;
}

void message_waits_turn(struct message_waits *w)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct waiting_message m = w->messages[i];

		if (m.received.thread < w->n_threads && w->threads[m.received.thread].fresh &&
		    message_tell(w, &m))
			continue;
		w->messages[kept++] = m;
	}
	w->n = kept;
	for (size_t i = 0; i < w->n_threads; i++)
		w->threads[i].fresh = false;
}

void message_waits_end(struct message_waits *w)
{
	message_waits_turn(w);
	for (size_t i = 0; i < w->n; i++)
		message_leave(w, &w->messages[i]);
	w->n = 0;
}

uint64_t message_waits_unknown(const struct message_waits *w)
{
	return w->unknown;
}
