/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves messages and values between the neighbours of a steered collective. */
#include "node-agent/collect/mpi/mpi-steer-move.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/collect/mpi/mpi-calls.h"
#include "tree/data/op-table.h"

struct steer_library steer_mpi;

#define TAG 1

/* A larger room is not kept between calls. */
#define ROOM_KEPT (1u << 20)

/* ---- messages ---- */

int steer_send_begin(struct steer_call *c, const void *from, int count, MPI_Datatype type, int to)
{
	if (c->collected >> STEER_SEND & 1 && !c->sending)
		c->sending = collect_now();
	c->on->of[c->pending] = ~to;
	return steer_mpi.Isend(from, count, type, to, TAG, c->on->shadow,
			       &c->on->requests[c->pending++]);
}

int steer_recv_begin(struct steer_call *c, void *into, int count, MPI_Datatype type, int from)
{
	c->on->of[c->pending] = from;
	return steer_mpi.Irecv(into, count, type, from, TAG, c->on->shadow,
			       &c->on->requests[c->pending++]);
}

void steer_record(const struct steer_call *c, uint16_t op, int member, uint64_t start)
{
	const int32_t peer = member >= 0 ? mpi_ranks_peer(c->at->ranks, member) : TUPLE_NO_PEER;
	struct tuple t;

	collect_fill(&t, op, c->at->id, peer, c->number, 0);
	t.start = start;
	t.end = collect_now();
	collect_extra(&t, &c->at->classes, CHANNEL_USER);
}

/* Record that what came from @with, which was waited for since @start, is here; or that what goes
 * to ~@with has gone. */
static void ended(const struct steer_call *c, uint16_t op, int with, uint64_t start)
{
	if (with >= 0 && c->collected >> STEER_ARRIVAL & 1)
		steer_record(c, op, with, start);
	if (with < 0 && c->collected >> STEER_SEND & 1)
		steer_record(c, OP_EVSPACE_STEER_SEND, ~with, c->sending);
}

/* Wait for all that is under way; @op is what arrivals are recorded as. */
int steer_all_end(struct steer_call *c, uint16_t op)
{
	int rc = MPI_SUCCESS, n = c->pending, i;
	uint64_t start;

	c->pending = 0;
	if (n == 0)
		return MPI_SUCCESS;
	if (!(c->collected & (1u << STEER_ARRIVAL | 1u << STEER_SEND)))
		return steer_mpi.Waitall(n, c->on->requests, MPI_STATUSES_IGNORE);
	start = collect_now();
	for (int done = 0; done < n && rc == MPI_SUCCESS; done++) {
		rc = steer_mpi.Waitany(n, c->on->requests, &i, MPI_STATUS_IGNORE);
		if (rc == MPI_SUCCESS && i >= 0 && i < n)
			ended(c, op, c->on->of[i], start);
	}
	c->sending = 0;
	return rc;
}

int steer_send_to(struct steer_call *c, const void *from, int count, MPI_Datatype type, int to)
{
	int rc = steer_send_begin(c, from, count, type, to);

	return rc == MPI_SUCCESS ? steer_all_end(c, OP_EVSPACE_STEER_DOWN) : rc;
}

int steer_recv_from(struct steer_call *c, void *into, int count, MPI_Datatype type, int from)
{
	int rc = steer_recv_begin(c, into, count, type, from);

	return rc == MPI_SUCCESS ? steer_all_end(c, OP_EVSPACE_STEER_DOWN) : rc;
}

/* ---- neighbours ---- */

/* All neighbours but @up: the @i-th, or -1 behind the last. */
int steer_other(const struct steer_route *route, int up, int i)
{
	for (int32_t k = 0; k < route->n_children; k++)
		if (route->children[k] != up && i-- == 0)
			return route->children[k];
	return i == 0 && route->parent[route->me] != up ? route->parent[route->me] : -1;
}

int steer_send_others(struct steer_call *c, const void *from, int count, MPI_Datatype type, int up)
{
	int rc = MPI_SUCCESS, to;

	for (int i = 0; rc == MPI_SUCCESS && (to = steer_other(c->route, up, i)) >= 0; i++)
		rc = steer_send_begin(c, from, count, type, to);
	return rc == MPI_SUCCESS ? steer_all_end(c, OP_EVSPACE_STEER_DOWN) : rc;
}

bool steer_is_root(const struct steer_route *route)
{
	for (int32_t i = 0; i < route->n_roots; i++)
		if (route->roots[i] == route->me)
			return true;
	return false;
}

/* To the children of the own tree. */
int steer_send_down(struct steer_call *c, const void *from, int count, MPI_Datatype type)
{
	int rc = MPI_SUCCESS;

	for (int32_t i = 0; i < c->route->n_own && rc == MPI_SUCCESS; i++)
		rc = steer_send_begin(c, from, count, type, c->route->children[i]);
	return rc == MPI_SUCCESS ? steer_all_end(c, OP_EVSPACE_STEER_DOWN) : rc;
}

/* ---- slots ---- */

/* Room for @n parts of @bytes each; NULL: there is none. */
char *steer_room_make(struct steered *s, size_t n, size_t bytes)
{
	size_t all = n * STEER_ALIGNED(bytes) + 64;
	char *room;

	if (all <= s->room_bytes)
		return s->room;
	room = realloc(s->room, all);
	if (!room)
		return NULL;
	s->room = room;
	s->room_bytes = all;
	return room;
}

void steer_room_trim(struct steered *s)
{
	if (s->room_bytes <= ROOM_KEPT)
		return;
	free(s->room);
	s->room = NULL;
	s->room_bytes = 0;
}

/* The parts of @span in @slots, each of @bytes. */
int steer_span_move(struct steer_call *c, char *slots, size_t bytes, struct steer_span span,
		    int with, bool sends)
{
	int rc = MPI_SUCCESS;

	for (int k = 0; k < 2 && rc == MPI_SUCCESS; k++) {
		char *from = slots + (size_t)span.from[k] * bytes;
		int n = (int)((size_t)span.n[k] * bytes);

		if (span.n[k] > 0 && sends)
			rc = steer_send_begin(c, from, n, mpi.byte, with);
		else if (span.n[k] > 0)
			rc = steer_recv_begin(c, from, n, mpi.byte, with);
	}
	return rc;
}

int steer_spans_move(struct steer_call *c, char *slots, size_t bytes, int up, bool sends)
{
	int rc = MPI_SUCCESS, with;

	for (int i = 0; rc == MPI_SUCCESS && (with = steer_other(c->route, up, i)) >= 0; i++)
		rc = steer_span_move(c, slots, bytes, steer_route_beyond(c->route, with), with,
				     sends);
	if (rc != MPI_SUCCESS)
		return rc;
	return steer_all_end(c, sends ? OP_EVSPACE_STEER_DOWN : OP_EVSPACE_STEER_UP);
}

/* One member's data, to its slot or from there. */
static int slot_fill(const struct steer_call *c, char *slots, size_t bytes, struct steer_data own)
{
	int at = 0;

	return steer_mpi.Pack(own.at, own.count, own.type,
			      slots + (size_t)c->route->at[c->route->me] * bytes, (int)bytes, &at,
			      c->on->shadow);
}

int steer_slot_take(const struct steer_call *c, const char *slots, size_t bytes, int member,
		    struct steer_data into)
{
	int at = 0;

	return steer_mpi.Unpack(slots + (size_t)c->route->at[member] * bytes, (int)bytes, &at,
				into.at, into.count, into.type, c->on->shadow);
}

/* Bring what all have to the root's slots. */
int steer_slots_gather(struct steer_call *c, char *slots, size_t bytes, struct steer_data own,
		       int root)
{
	int up = steer_route_up(c->route, root);
	int rc = slot_fill(c, slots, bytes, own);

	if (rc == MPI_SUCCESS)
		rc = steer_spans_move(c, slots, bytes, up, false);
	if (rc != MPI_SUCCESS || up < 0)
		return rc;
	rc = steer_span_move(c, slots, bytes, steer_route_hither(c->route, up), up, true);
	return rc == MPI_SUCCESS ? steer_all_end(c, OP_EVSPACE_STEER_UP) : rc;
}
