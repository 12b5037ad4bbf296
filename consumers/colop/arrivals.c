/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the events of collectives to their meetings, by communicator and number; of PVM by group
 * and the number that all members have. */
#include "consumers/colop/arrivals.h"

#include <stdlib.h>

#include "consumers/analysis/arrival-order.h"
#include "consumers/analysis/group-number.h"
#include "consumers/client/client.h"
#include "consumers/client/evspace-call.h"
#include "pathmap/base/memory.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"

/* Most members of groups of PVM (8 MB). */
#define MEMBERS_MOST (1u << 16)

struct arrivals {
	struct attendance *attendance;
	struct meetings *meetings;
	struct group_numbers *numbers;
	struct arrival_order *order;
	struct arrivals_counts counts;
};

static void take_arrival(void *arg, const struct meeting_key *key, const struct arrival *arrival)
{
	meetings_add(((struct arrivals *)arg)->meetings, key, arrival);
}

struct arrivals *arrivals_new(struct attendance *attendance, struct meetings *meetings, size_t most)
{
	struct arrivals *a = memory_new(1, sizeof(*a));

	a->attendance = attendance;
	a->meetings = meetings;
	a->order = arrival_order_new(most, take_arrival, a);
	a->numbers = group_numbers_new(MEMBERS_MOST);
	return a;
}

void arrivals_free(struct arrivals *a)
{
	if (!a)
		return;
	group_numbers_free(a->numbers);
	arrival_order_free(a->order);
	free(a);
}

struct arrival arrival_of(const struct evspace_event *ev, const struct attendance_entry *who)
{
	return (struct arrival){
		.start_ns = ev->start_ns,
		.end_ns = ev->end_ns > ev->start_ns ? ev->end_ns : ev->start_ns,
		.error_ns = ev->error_ns,
		.bytes = ev->bytes,
		.process = who->process,
		.host = who->host,
		.site = who->site,
		.place = -1,
		.op = ev->op_number,
	};
}

static size_t members(void *arg, uint32_t comm, int32_t *list, size_t room)
{
	return evspace_members(arg, comm, list, room);
}

/* Is it the event of a collective? */
static bool is_call(const struct evspace_event *ev)
{
	return op_is_collective(ev->op_number) && ev->end_ns && ev->comm &&
	       !(ev->flags & (EVSPACE_RUNNING | EVSPACE_COMPLETION | EVSPACE_GONE));
}

/* Has it a number that all members have? */
static bool is_numbered(struct arrivals *a, const struct evspace_event *ev)
{
	const bool numbered = !(ev->flags & (EVSPACE_UNNUMBERED | EVSPACE_FAILED));

	a->counts.unnumbered += !numbered;
	return numbered;
}

/* Of PVM. Members of groups come and go, and each knows only itself by its instance: so a place is
 * just the process. Returns whether it belongs to a meeting. */
static bool group_key(struct arrivals *a, const struct evspace_collective *says, uint32_t size,
		      struct meeting_key *key, struct arrival *to)
{
	const struct group_call of = {
		.group = key->comm,
		.process = to->process,
		.number = key->number,
		.tasks = to->op == OP_PVM_BARRIER && says->size != size ? says->size : 0,
		.size = size,
	};
	enum group_numbered what = group_number(a->numbers, &of, &key->number);

	to->place = (int32_t)to->process;
	key->root = says->here ? to->place : -1;
	key->grows = true;
	a->counts.parted += what == GROUP_PARTED;
	a->counts.unnumbered += what == GROUP_UNKNOWN || what == GROUP_CROWDED;
	return what == GROUP_NUMBERED;
}

static void take_event(struct arrivals *a, struct evspace_client *client,
		       const struct evspace_event *ev)
{
	const struct attendance_entry *who = attendance_find(a->attendance, ev->name, ev->rank);
	struct evspace_collective says = {.root = -1};
	struct arrival_call call = {
		.key = {.comm = ev->comm, .number = ev->seq_or_tag},
		.arrival = arrival_of(ev, who),
		.number = who->shared ? UINT64_MAX : ev->number,
		.thread = who->thread,
		.element = who->element,
		.split = who->split,
		.joined = is_numbered(a, ev),
	};

	(void)evspace_collective(client, ev, &says);
	call.key.root = says.root;
	call.key.size = says.size;
	if (!op_is_pvm(ev->op_number))
		call.arrival.place =
			attendance_place(a->attendance, ev->comm, ev->rank, members, client);
	else if (call.joined)
		call.joined =
			group_key(a, &says, (uint32_t)evspace_members(client, ev->comm, NULL, 0),
				  &call.key, &call.arrival);
	arrival_order_add(a->order, &call);
}

bool arrivals_are_read(struct evspace_client *client)
{
	const struct evspace_wave *w = evspace_wave(client);
	struct evspace_counts n;

	/* what was there before is no part of it */
	if (!client->backlog || client->partial)
		return true;
	evspace_counts(client, &n);
	return !w->again && w->written <= n.read + n.lost + n.discarded;
}

bool arrivals_take(struct arrivals *a, struct evspace_client *client)
{
	struct evspace_event ev;
	bool any = false;

	for (; evspace_event(client, &ev); any = true) {
		if (is_call(&ev))
			take_event(a, client, &ev);
	}
	if (arrivals_are_read(client)) {
		arrival_order_turn(a->order);
		meetings_turn(a->meetings);
	}
	return any;
}

void arrivals_end(struct arrivals *a)
{
	arrival_order_turn(a->order);
	meetings_end(a->meetings);
}

const struct arrivals_counts *arrivals_counts(const struct arrivals *a)
{
	return &a->counts;
}
