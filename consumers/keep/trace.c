/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers events by thread, with the communicators that they are on. */
#include "consumers/keep/trace.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "pathmap/base/memory.h"
#include "tree/data/names-comm.h"
#include "tree/data/op.h"

/* ---- threads ---- */

/* The name without its last part, the channel. */
static struct trace_thread *thread_of(struct trace_run *t, const struct evspace_event *ev)
{
	const char *end = strrchr(ev->name, '/');
	size_t n = end && end > ev->name ? (size_t)(end - ev->name) : strlen(ev->name);
	struct trace_thread *thread;

	if (t->last_name && strcmp(t->last_name, ev->name) == 0)
		return t->last;
	HASH_FIND(hh, t->threads, ev->name, n, thread);
	if (!thread) {
		thread = memory_new(1, sizeof(*thread));
		thread->name = memory_copy_bytes(ev->name, n);
		thread->rank = ev->rank;
		HASH_ADD_KEYPTR(hh, t->threads, thread->name, n, thread);
		t->n_threads++;
	}
	free(t->last_name);
	t->last_name = memory_copy(ev->name);
	t->last = thread;
	return thread;
}

static struct trace_event *event_add(struct trace_thread *thread)
{
	if (thread->n == thread->room) {
		thread->room = thread->room ? 2 * thread->room : 256;
		thread->events =
			reallocarray(thread->events, thread->room, sizeof(*thread->events));
		if (!thread->events)
			abort();
	}
	return &thread->events[thread->n++];
}

/* ---- communicators ---- */

/* So many were made of each other at most: a file may say what cannot be. */
#define COMM_DEPTH 64u

static bool comm_is_noted(const struct trace_run *t, uint32_t id)
{
	struct trace_comm *comm;

	HASH_FIND(hh, t->comms, &id, sizeof(id), comm);
	return comm != NULL;
}

static void comm_add(struct trace_run *t, struct evspace_client *client, uint32_t id)
{
	const struct name_comm *said = names_comm_find(client_replayed(client).names, id);
	struct trace_comm *comm = memory_new(1, sizeof(*comm));

	comm->id = id;
	comm->parent = said && comm_is_noted(t, said->parent) ? said->parent : 0;
	comm->world = evspace_is_world(client, id);
	comm->n = evspace_members(client, id, NULL, 0);
	comm->members = memory_new(comm->n + 1, sizeof(*comm->members));
	evspace_members(client, id, comm->members, comm->n);
	HASH_ADD(hh, t->comms, id, sizeof(id), comm);
	t->n_comms++;
}

/* With those that it was made of, these first. */
static void comm_note(struct trace_run *t, struct evspace_client *client, uint32_t id)
{
	const struct names *names = client_replayed(client).names;
	uint32_t line[COMM_DEPTH];
	unsigned n = 0;

	while (id && n < COMM_DEPTH && !comm_is_noted(t, id)) {
		const struct name_comm *said = names_comm_find(names, id);

		line[n++] = id;
		id = said ? said->parent : 0;
	}
	while (n > 0) {
		if (!comm_is_noted(t, line[--n]))
			comm_add(t, client, line[n]);
	}
}

/* ---- all ---- */

static void take_event(struct trace_run *t, struct evspace_client *client,
		       const struct evspace_event *ev)
{
	const struct tuple tuple = {.peer = ev->peer, .op = ev->op_number, .flags = ev->flags};
	struct evspace_collective collective;
	struct trace_event *to;

	if (!ev->end_ns || ev->flags & EVSPACE_RUNNING) {
		t->under_way++;
		return;
	}
	to = event_add(thread_of(t, ev));
	*to = (struct trace_event){
		.start_ns = ev->start_ns,
		.end_ns = ev->end_ns > ev->start_ns ? ev->end_ns : ev->start_ns,
		.bytes = ev->bytes,
		.comm = ev->comm,
		.seq_or_tag = ev->seq_or_tag,
		.peer = ev->peer,
		.root = -1,
		.op = ev->op_number,
		.flags = ev->flags,
		.message = message_between(&tuple),
	};
	if (evspace_collective(client, ev, &collective))
		to->root = collective.root;
	comm_note(t, client, ev->comm);
	t->events++;
	if (!t->from_ns || to->start_ns < t->from_ns)
		t->from_ns = to->start_ns;
	if (to->end_ns > t->to_ns)
		t->to_ns = to->end_ns;
}

void trace_take(struct trace_run *t, struct evspace_client *client)
{
	struct evspace_event ev;
	struct evspace_loss loss;

	while (evspace_event(client, &ev))
		take_event(t, client, &ev);
	evspace_rewind(client);
	while (evspace_loss(client, &loss))
		t->lost += loss.lost;
}

static int by_start(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns > y->start_ns ? 1 : -1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static int by_rank(const struct trace_thread *a, const struct trace_thread *b)
{
	return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
				  : strcmp(a->name, b->name);
}

void trace_sort(struct trace_run *t)
{
	HASH_SORT(t->threads, by_rank);
	for (struct trace_thread *thread = t->threads; thread; thread = thread->hh.next)
		qsort(thread->events, thread->n, sizeof(*thread->events), by_start);
}

void trace_fini(struct trace_run *t)
{
	struct trace_thread *thread, *next;
	struct trace_comm *comm, *after;

	HASH_ITER(hh, t->threads, thread, next)
	{
		HASH_DELETE(hh, t->threads, thread);
		free(thread->events);
		free(thread->name);
		free(thread);
	}
	HASH_ITER(hh, t->comms, comm, after)
	{
		HASH_DELETE(hh, t->comms, comm);
		free(comm->members);
		free(comm);
	}
	free(t->last_name);
	*t = (struct trace_run){0};
}
