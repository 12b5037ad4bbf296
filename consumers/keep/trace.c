/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers events by thread, with the communicators that they are on. */
#include "consumers/keep/trace.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-replay.h"
#include "consumers/keep/pairing.h"
#include "consumers/keep/spill.h"
#include "pathmap/base/memory.h"
#include "tree/data/names-comm.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"

/* ---- threads ---- */

/* The name without its last part, the channel. */
static struct trace_thread *thread_of(struct trace_run *t, const struct evspace_event *ev)
{
	const char *end = strrchr(ev->name, '/');
	size_t n = end && end > ev->name ? (size_t)(end - ev->name) : strlen(ev->name);
	struct trace_thread *thread;

	HASH_FIND(hh, t->threads, ev->name, n, thread);
	if (!thread) {
		thread = memory_new(1, sizeof(*thread));
		thread->name = memory_copy_bytes(ev->name, n);
		thread->rank = ev->rank;
		thread->number = (uint32_t)t->n_threads;
		HASH_ADD_KEYPTR(hh, t->threads, thread->name, n, thread);
		t->by_number = memory_room(t->by_number, t->n_threads, sizeof(thread));
		t->by_number[t->n_threads++] = thread;
	}
	return thread;
}

static struct trace_element *element_of(struct trace_run *t, const struct evspace_event *ev)
{
	struct trace_element *element = t->last;

	if (element && strcmp(element->name, ev->name) == 0)
		return element;
	HASH_FIND_STR(t->elements, ev->name, element);
	if (!element) {
		element = memory_new(1, sizeof(*element));
		element->name = memory_copy(ev->name);
		element->thread = thread_of(t, ev);
		element->end_ns = INT64_MIN;
		HASH_ADD_KEYPTR(hh, t->elements, element->name, strlen(element->name), element);
	}
	t->last = element;
	return element;
}

/* ---- what is missing ---- */

static void hole_add(struct trace_run *t, const struct trace_element *element, int64_t to_ns)
{
	t->holes = true;
	pairing_hole(t->pairing, element->thread->rank, element->end_ns, to_ns);
}

/* What was lost before a call was over when that began. */
static void number_take(struct trace_run *t, struct trace_element *element,
			const struct evspace_event *ev, const struct trace_event *to)
{
	if (ev->number == UINT64_MAX)
		return;
	if (ev->number != element->next)
		hole_add(t, element, ev->flags & EVSPACE_COMPLETION ? to->end_ns : to->start_ns);
	element->next = ev->number + 1;
	element->end_ns = to->end_ns;
}

static void losses_take(struct trace_run *t, struct evspace_client *client)
{
	struct trace_element *element;
	struct evspace_loss loss;

	evspace_rewind(client);
	while (evspace_loss(client, &loss)) {
		t->lost += loss.lost;
		HASH_FIND_STR(t->elements, loss.name, element);
		if (element)
			element->lost_till = loss.first + loss.lost;
		else
			pairing_hole(t->pairing, loss.rank, INT64_MIN, INT64_MAX);
	}
}

/* Those behind which nothing has come. */
static void losses_end(struct trace_run *t)
{
	t->holes |= t->lost > 0;
	for (struct trace_element *e = t->elements; e; e = e->hh.next) {
		if (e->lost_till > e->next)
			hole_add(t, e, INT64_MAX);
	}
}

/* ---- communicators ---- */

/* So many were made of each other at most: a file may say what cannot be. */
#define COMM_DEPTH 64u

static struct trace_comm *comm_find(const struct trace_run *t, uint32_t id)
{
	struct trace_comm *comm;

	HASH_FIND(hh, t->comms, &id, sizeof(id), comm);
	return comm;
}

static bool comm_is_noted(const struct trace_run *t, uint32_t id)
{
	return comm_find(t, id) != NULL;
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

/* That a member knows no root of @op. */
static void rootless_note(struct trace_run *t, uint32_t id, uint16_t op)
{
	const bool rooted = op == OP_MPI_BCAST || op == OP_MPI_REDUCE || op == OP_MPI_GATHER ||
			    op == OP_MPI_GATHERV || op == OP_MPI_SCATTER || op == OP_MPI_SCATTERV;
	struct trace_comm *comm = rooted ? comm_find(t, id) : NULL;

	if (comm)
		comm->apart = true;
}

/* ---- what the program calls something ---- */

static uint16_t op_take(struct trace_run *t, struct evspace_client *client,
			const struct evspace_event *ev)
{
	const struct trace_label_key key = {ev->seq_or_tag, ev->op_number};
	const char *text = op_is_labelled(ev->op_number) ? evspace_label(client, key.id) : NULL;
	struct trace_label *label;

	if (!text || !*text)
		return ev->op_number;
	HASH_FIND(hh, t->labels, &key, sizeof(key), label);
	if (label)
		return label->as;
	if (t->n_labels == UINT16_MAX - TRACE_LABELS)
		return ev->op_number;
	label = memory_new(1, sizeof(*label));
	label->key = key;
	label->text = memory_copy(text);
	label->as = (uint16_t)(TRACE_LABELS + t->n_labels);
	HASH_ADD(hh, t->labels, key, sizeof(key), label);
	t->texts = memory_room(t->texts, t->n_labels, sizeof(*t->texts));
	t->texts[t->n_labels++] = label->text;
	return label->as;
}

const char *trace_op_name(const struct trace_run *t, uint16_t op)
{
	return op >= TRACE_LABELS && op - TRACE_LABELS < t->n_labels ? t->texts[op - TRACE_LABELS]
								     : op_name(op);
}

/* ---- all ---- */

/* Completions and regions have no place among calls, which enclose each other. */
static bool is_call(const struct evspace_event *ev)
{
	return !(ev->flags & (EVSPACE_COMPLETION | EVSPACE_REGION));
}

/* Add the call that begins, and the message. */
static int moments_add(struct trace_run *t, struct trace_event *to, bool call, enum message message,
		       struct error *e)
{
	to->message = MESSAGE_NONE;
	if (call && spill_add(t->moments, to, e) < 0)
		return -1;
	to->message = (uint8_t)message;
	return message == MESSAGE_NONE ? 0 : spill_add(t->moments, to, e);
}

static int take_event(struct trace_run *t, struct evspace_client *client,
		      const struct evspace_event *ev, struct error *e)
{
	const struct tuple tuple = {.peer = ev->peer, .op = ev->op_number, .flags = ev->flags};
	struct evspace_collective collective;
	struct trace_element *element;
	struct trace_event to;

	if (!ev->end_ns || ev->flags & EVSPACE_RUNNING) {
		t->under_way++;
		return 0;
	}
	element = element_of(t, ev);
	to = (struct trace_event){
		.start_ns = ev->start_ns,
		.end_ns = ev->end_ns > ev->start_ns ? ev->end_ns : ev->start_ns,
		.bytes = ev->bytes,
		.comm = ev->comm,
		.seq_or_tag = ev->seq_or_tag,
		.thread = element->thread->number,
		.peer = ev->peer,
		.root = -1,
		.op = op_take(t, client, ev),
		.flags = ev->flags,
	};
	if (evspace_collective(client, ev, &collective))
		to.root = op_is_pvm(ev->op_number) ? -1 : collective.root;
	comm_note(t, client, ev->comm);
	if (to.root < 0)
		rootless_note(t, to.comm, to.op);
	number_take(t, element, ev, &to);
	if (to.op == t->finalize)
		pairing_end(t->pairing, ev->rank);
	t->events++;
	t->ops[to.op] = true;
	if (!t->from_ns || to.start_ns < t->from_ns)
		t->from_ns = to.start_ns;
	if (to.end_ns > t->to_ns)
		t->to_ns = to.end_ns;
	return moments_add(t, &to, is_call(ev), message_between(&tuple), e);
}

int trace_take(struct trace_run *t, struct evspace_client *client, struct error *e)
{
	struct evspace_event ev;

	while (evspace_event(client, &ev)) {
		if (take_event(t, client, &ev, e) < 0)
			return -1;
	}
	losses_take(t, client);
	return 0;
}

static int by_rank(const struct trace_thread *a, const struct trace_thread *b)
{
	return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
				  : strcmp(a->name, b->name);
}

void trace_sort(struct trace_run *t)
{
	uint32_t place = 0;

	losses_end(t);
	HASH_SORT(t->threads, by_rank);
	for (struct trace_thread *thread = t->threads; thread; thread = thread->hh.next)
		thread->place = place++;
}

/* Looked at after so many. */
#define STEP_EACH 4096u

int trace_step(const struct trace_run *t, const char *done, uint64_t n, uint64_t all,
	       struct error *e)
{
	if (n % STEP_EACH > 0)
		return 0;
	if (t->progress)
		progress_show(t->progress, done, n, (double)n / (double)all);
	return t->stopped && t->stopped() ? errorf(e, "interrupted") : 0;
}

int64_t trace_at(const struct trace_event *ev)
{
	return ev->message == MESSAGE_RECEIVED ? ev->end_ns : ev->start_ns;
}

/* At the same time, first what is received by what began before, then what begins, then what is
 * within that. */
static int turn_of(const struct trace_event *ev)
{
	if (ev->message == MESSAGE_NONE)
		return 1;
	return ev->message == MESSAGE_RECEIVED && ev->start_ns < ev->end_ns ? 0 : 2;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* By thread and time, then the longest first. */
static int by_moment(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;
	int by = COMPARE(x->thread, y->thread);

	by = by ? by : COMPARE(trace_at(x), trace_at(y));
	by = by ? by : COMPARE(turn_of(x), turn_of(y));
	by = by ? by : COMPARE(y->end_ns, x->end_ns);
	by = by ? by : COMPARE(x->start_ns, y->start_ns);
	by = by ? by : COMPARE(x->comm, y->comm);
	return by ? by : COMPARE(x->seq_or_tag, y->seq_or_tag);
}

/* ---- life ---- */

/* Of events; as much again is taken by what formats sort. */
#define SORT_MEMORY ((size_t)32 << 20)

void trace_init(struct trace_run *t, const char *out)
{
	*t = (struct trace_run){
		.moments = spill_new(sizeof(struct trace_event), by_moment, SORT_MEMORY, out),
		.pairing = pairing_new(),
		.finalize = op_find("MPI_Finalize")};
}

void trace_fini(struct trace_run *t)
{
	struct trace_element *element, *next_element;
	struct trace_thread *thread, *next;
	struct trace_comm *comm, *after;
	struct trace_label *label, *then;

	HASH_ITER(hh, t->threads, thread, next)
	{
		HASH_DELETE(hh, t->threads, thread);
		free(thread->name);
		free(thread);
	}
	HASH_ITER(hh, t->comms, comm, after)
	{
		HASH_DELETE(hh, t->comms, comm);
		free(comm->members);
		free(comm);
	}
	HASH_ITER(hh, t->labels, label, then)
	{
		HASH_DEL(t->labels, label);
		free(label->text);
		free(label);
	}
	free(t->texts);
	HASH_ITER(hh, t->elements, element, next_element)
	{
		HASH_DEL(t->elements, element);
		free(element->name);
		free(element);
	}
	free(t->by_number);
	pairing_free(t->pairing);
	spill_free(t->moments);
	*t = (struct trace_run){0};
}
