/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the events of messages, and finds who waits for whom in them. */
#include "consumers/colop/messages.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/analysis/message-wait.h"
#include "consumers/colop/arrivals.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"
#include "tree/stage/message.h"

/* Most sides of messages that are open: 100 MB; calls that wait for some: 16 MB; and messages that
 * look for theirs: 20 MB. */
#define SIDES_MOST   500000u
#define CALLS_MOST   1000000u
#define LOOKING_MOST 100000u

/* In the names of elements for what has none. */
#define OVERFLOW "/overflow/"

/* Messages of PVM, by what is no communicator: those to a group are received as all others are. */
#define ALL_TASKS 0u

/* An element: which tuple comes next. */
struct letterbox {
	const struct attendance_entry *who;
	uint64_t next;
	UT_hash_handle hh;
};

struct messages {
	struct attendance *attendance;
	struct message_match *match;
	struct message_waits *waits;
	struct message_flows *flows;
	struct letterbox *boxes;
	uint32_t tasks;	  /* the communicator of all tasks of PVM, which messages to groups do not
			     have */
	uint64_t foreign; /* events of processes of other worlds, or with them as the peer */
};

static void take(void *arg, const struct message_key *key, const struct message_side *sent,
		 const struct message_side *received)
{
	struct messages *m = arg;
	const uint32_t comm = key->comm == ALL_TASKS ? m->tasks : key->comm;

	if (received->later)
		message_waits_add(m->waits, comm, sent, received);
	else
		message_flows_add(m->flows, comm, sent, received);
}

static void take_waited(void *arg, uint32_t comm, const struct message_side *sent,
			const struct message_side *received)
{
	message_flows_add(((struct messages *)arg)->flows, comm, sent, received);
}

struct messages *messages_new(struct attendance *attendance)
{
	struct messages *m = memory_new(1, sizeof(*m));

	m->attendance = attendance;
	m->match = message_match_new(SIDES_MOST, take, m);
	m->waits = message_waits_new(CALLS_MOST, LOOKING_MOST, take_waited, m);
	m->flows = message_flows_new();
	return m;
}

void messages_free(struct messages *m)
{
	struct letterbox *box, *next;

	if (!m)
		return;
	HASH_ITER(hh, m->boxes, box, next)
	{
		HASH_DEL(m->boxes, box);
		free(box);
	}
	message_match_free(m->match);
	message_waits_free(m->waits);
	message_flows_free(m->flows);
	free(m);
}

/* ---- one side ---- */

/* Are tuples of its element missing before it? */
static bool has_hole(struct messages *m, const struct attendance_entry *who, uint64_t number)
{
	struct letterbox *box;
	bool hole;

	HASH_FIND_PTR(m->boxes, &who, box);
	if (!box) {
		box = memory_new(1, sizeof(*box));
		box->who = who;
		HASH_ADD_PTR(m->boxes, who, box);
	}
	hole = number != box->next;
	box->next = number + 1;
	return hole;
}

/* A call that cannot end before the other side is there, or may have to wait for that. */
static bool sends_and_waits(uint16_t op)
{
	return op == OP_MPI_SEND || op == OP_MPI_SSEND || op == OP_MPI_RSEND;
}

/* Since when has the thread waited for what it has received? If it was by a request, the call that
 * ended when that did knows. */
static void received_since(const struct evspace_event *ev, struct message_side *side)
{
	side->since_ns = ev->start_ns;
	side->later = ev->flags & EVSPACE_COMPLETION && ev->op_number != OP_MPI_SENDRECV &&
		      ev->op_number != OP_MPI_SENDRECV_REPLACE;
	side->waits = !side->later;
}

/* To each member of its group but itself, as they are known. */
static void sent_to_group(struct messages *m, const struct evspace_client *client,
			  const struct evspace_event *ev, const struct message_side *side)
{
	size_t n = evspace_members(client, ev->comm, NULL, 0);
	int32_t *to = memory_new(n + 1, sizeof(*to));

	n = evspace_members(client, ev->comm, to, n);
	for (size_t i = 0; i < n; i++) {
		const struct message_key key = {ALL_TASKS, ev->seq_or_tag, ev->rank, to[i]};

		if (to[i] != ev->rank)
			message_match_add(m->match, &key, false, side);
	}
	free(to);
}

/* Is it one of PVM's that sends to several tasks, so that all is done? */
static bool sent_to_several(struct messages *m, const struct evspace_client *client,
			    const struct evspace_event *ev, const struct message_side *side)
{
	if (ev->op_number != OP_PVM_BCAST && ev->op_number != OP_PVM_MCAST)
		return false;
	if (ev->flags & EVSPACE_FAILED)
		return true;
	if (ev->op_number == OP_PVM_BCAST)
		sent_to_group(m, client, ev, side);
	else
		message_match_untold(m->match, ALL_TASKS, ev->seq_or_tag, ev->rank);
	return true;
}

static void take_event(struct messages *m, const struct evspace_client *client,
		       const struct evspace_event *ev)
{
	const struct tuple t = {.op = ev->op_number, .peer = ev->peer, .flags = ev->flags};
	const bool pvm = op_is_pvm(ev->op_number);
	const enum message what = pvm ? message_of(&t) : message_between(&t);
	const struct attendance_entry *who = attendance_find(m->attendance, ev->name, ev->rank);
	struct message_key key = {pvm ? ALL_TASKS : ev->comm, ev->seq_or_tag, ev->rank, ev->peer};
	struct message_side side = {.at = arrival_of(ev, who),
				    .thread = who->thread,
				    .waits = sends_and_waits(ev->op_number)};

	if (has_hole(m, who, ev->number))
		message_match_lost(m->match, ev->rank);
	if (sent_to_several(m, client, ev, &side))
		return;
	if (what == MESSAGE_NONE || !ev->comm)
		return;
	m->foreign += ev->rank < 0 || ev->peer <= TUPLE_FOREIGN_PEER;
	if (ev->rank < 0 || ev->peer < 0)
		return;
	if (pvm)
		m->tasks = ev->comm;
	if (what == MESSAGE_RECEIVED) {
		key.from = ev->peer;
		key.to = ev->rank;
		received_since(ev, &side);
	}
	message_match_add(m->match, &key, what == MESSAGE_RECEIVED, &side);
}

/* What had no element may have been a message (decision 17). */
static void take_overflowed(struct messages *m, struct evspace_client *client)
{
	struct evspace_loss loss;

	evspace_rewind(client);
	while (evspace_loss(client, &loss)) {
		if (strstr(loss.name, OVERFLOW))
			message_match_lost(m->match, loss.rank);
	}
}

void messages_take(struct messages *m, struct evspace_client *client)
{
	struct evspace_event ev;

	evspace_rewind(client);
	while (evspace_event(client, &ev)) {
		const bool completes = ev.flags & EVSPACE_COMPLETION;
		const enum channel channel = op_channel(ev.op_number);

		if (ev.flags & (EVSPACE_RUNNING | EVSPACE_GONE))
			continue;
		if (completes || channel == CHANNEL_P2P)
			take_event(m, client, &ev);
		else if (channel == CHANNEL_WAIT && ev.end_ns)
			message_waits_call(m->waits,
					   attendance_find(m->attendance, ev.name, ev.rank)->thread,
					   ev.start_ns, ev.end_ns);
	}
	take_overflowed(m, client);
	if (!arrivals_are_read(client))
		return;
	message_match_turn(m->match);
	message_waits_turn(m->waits);
}

void messages_end(struct messages *m)
{
	message_match_end(m->match);
	message_waits_end(m->waits);
}

uint64_t messages_unknown(const struct messages *m)
{
	return message_waits_unknown(m->waits);
}

uint64_t messages_foreign(const struct messages *m)
{
	return m->foreign;
}

const struct message_counts *messages_counts(const struct messages *m)
{
	return message_match_counts(m->match);
}

const struct message_flows *messages_flows(const struct messages *m)
{
	return m->flows;
}
