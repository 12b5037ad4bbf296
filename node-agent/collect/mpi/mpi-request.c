/* SPDX-License-Identifier: BSD-3-Clause */
/* Two fixed tables of requests: by handle, and by the address of the variable that holds the
 * handle. */
#include "node-agent/collect/mpi/mpi-request.h"

#include <stddef.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-request-table.h"

#define REQUESTS MPI_REQUESTS

struct mpi_table_bucket mpi_request_buckets[2 * MPI_REQUEST_BUCKETS];
_Atomic uint32_t mpi_request_seconds[2];
struct mpi_request mpi_request_records[2 * MPI_REQUESTS];

/* Short names of the tables. */
static const struct mpi_table *const handles = &mpi_requests_by_handle;
static const struct mpi_table *const places = &mpi_requests_by_place;
static struct mpi_request *const by_handle = mpi_request_records;
static struct mpi_request *const by_place = mpi_request_records + MPI_REQUESTS;

/* Threads beyond that share a queue. */
#define QUEUES 16u

/* Slots of records by place that threads have started, in the order of their turns; those from
 * `oldest` on may still exist. */
static struct queue {
	_Atomic uint32_t next, oldest;
	_Atomic uint32_t slots[REQUESTS];
} queues[QUEUES];

_Atomic uint64_t mpi_requests_booked;

static void note_full(void)
{
	atomic_fetch_or_explicit(&collect.segment->header->note, SEGMENT_NOTE_REQUESTS,
				 memory_order_relaxed);
}

/* ---- requests with the shared handle, in starting order ---- */

static uint16_t queue_own(void)
{
	return (uint16_t)(collect_self.index % QUEUES);
}

static uint32_t turn_next(struct queue *q)
{
	uint32_t turn = atomic_load_explicit(&q->next, memory_order_relaxed);

	if (mpi.multiple)
		return atomic_fetch_add_explicit(&q->next, 1, memory_order_relaxed);
	atomic_store_explicit(&q->next, turn + 1, memory_order_relaxed);
	return turn;
}

/* Set the turn of the record in @slot, whose queue is set: a new one, or after a copy the same
 * one. */
static void turn_set(int slot, uint32_t turn)
{
	struct queue *q = &queues[by_place[slot].queue];

	by_place[slot].turn = turn;
	atomic_store_explicit(&q->slots[turn % REQUESTS], (uint32_t)slot, memory_order_relaxed);
}

/* Is it the record with @turn in the queue? */
static bool turn_is(const struct mpi_request *r, const struct queue *q, uint32_t turn)
{
	return r->turn == turn && &queues[r->queue] == q;
}

/* Hold the record with @turn, if it still exists. */
static struct mpi_request *turn_hold(const struct queue *q, uint32_t turn)
{
	uint32_t slot = atomic_load_explicit(&q->slots[turn % REQUESTS], memory_order_relaxed);
	uintptr_t key = atomic_load_explicit(mpi_table_key(places, slot), memory_order_acquire);
	struct mpi_request *r = &by_place[slot];

	if (key <= MPI_TABLE_HELD || !turn_is(r, q, turn) || !mpi_table_take(places, slot, key))
		return NULL;
	if (turn_is(r, q, turn))
		return r;
	mpi_table_release(places, (int)slot, key);
	return NULL;
}

/* Hold the oldest one of a queue. */
static struct mpi_request *queue_hold(struct queue *q)
{
	for (;;) {
		uint32_t next = atomic_load_explicit(&q->next, memory_order_relaxed);
		uint32_t oldest = atomic_load_explicit(&q->oldest, memory_order_relaxed);
		uint32_t from = next - oldest > REQUESTS ? next - REQUESTS : oldest;
		struct mpi_request *r;

		if (from == next)
			return NULL;
		if (!atomic_compare_exchange_strong(&q->oldest, &oldest, from + 1))
			continue;
		r = turn_hold(q, from);
		if (r)
			return r;
	}
}

/* Hold the oldest one, assuming that the program has copied its handle to an unknown place: of
 * those that this thread has started, as a thread mostly completes its own, else of others. */
static struct mpi_request *moved_hold(void)
{
	struct mpi_request *r = NULL;

	for (unsigned i = 0; i < QUEUES && !r; i++)
		r = queue_hold(&queues[(queue_own() + i) % QUEUES]);
	if (r)
		r->kind |= MPI_REQUEST_MOVED;
	return r;
}

/* The variable of the held record in @slot is reused: keep a copy of the record under its turn. */
static void place_leave(int slot)
{
	struct mpi_request *old = &by_place[slot], *copy;
	/* no variable has such an address */
	uintptr_t key = ((uintptr_t)old->turn * QUEUES + old->queue) << 2 | 2;
	int to = mpi_table_claim(places, key);

	if (to < 0)
		return;
	copy = &by_place[to];
	*copy = *old;
	copy->key = key;
	copy->kind |= MPI_REQUEST_MOVED;
	turn_set(to, copy->turn);
	old->kind = 0;
	mpi_table_release(places, to, key);
}

/* Programs that drop handles of complete requests leave records by place: replace the first one. */
static int place_claim(uintptr_t key)
{
	int slot = mpi_table_claim(places, key);
	uint32_t home = mpi_table_home(places, key, 0);
	uintptr_t old;

	if (slot >= 0 && by_place[slot].kind)
		place_leave(slot);
	if (slot >= 0)
		return slot;
	note_full();
	old = atomic_load_explicit(mpi_table_key(places, home), memory_order_relaxed);
	return old > MPI_TABLE_HELD && mpi_table_take(places, home, old) ? (int)home : -1;
}

static struct mpi_request *handle_claim(uintptr_t key)
{
	int slot = mpi_table_claim(handles, key);

	if (slot < 0) {
		note_full();
		return NULL;
	}
	return &by_handle[slot];
}

static struct mpi_request *request_claim(MPI_Request handle, const void *where, unsigned *kind)
{
	int slot;

	if (!mpi_request_is_shared(handle))
		return handle_claim(mpi_request_key(handle));
	slot = place_claim((uintptr_t)where);
	if (slot < 0)
		return NULL;
	*kind |= MPI_REQUEST_LOCATED;
	by_place[slot].queue = queue_own();
	turn_set(slot, turn_next(&queues[queue_own()]));
	return &by_place[slot];
}

static void coming_give_up(const struct mpi_request *r)
{
	if (r->kind & MPI_REQUEST_BRINGS)
		mpi_comm_arrived(r->coming, false);
}

static void request_fill(struct mpi_request *r, const struct tuple *t, struct mpi_comm *at,
			 struct mpi_ranks ranks, unsigned kind)
{
	if (!r->kind)
		mpi_requests_book(1);
	else
		coming_give_up(r); /* its handle was freed unnoticed */
	r->start = collect_started(t);
	r->bytes = t->bytes;
	r->peer = t->peer;
	r->tag = t->seq_or_tag;
	r->comm = t->comm;
	r->op = t->op;
	r->kind = (uint16_t)(kind | (t->flags & TUPLE_UNNUMBERED ? MPI_REQUEST_UNNUMBERED : 0u));
	r->ranks = ranks;
	r->at = at;
}

struct mpi_request *mpi_request_add(struct mpi_place where, const struct tuple *t,
				    struct mpi_comm *at, struct mpi_ranks ranks, unsigned kind)
{
	MPI_Request request = mpi_place_request(where);
	struct mpi_request *r;

	if (request == mpi.request_null)
		return NULL;
	/* MPICH 4.0 reports rank 0 as the sender for MPI_PROC_NULL, which sends nothing */
	if (t->peer == TUPLE_NO_PEER && ranks.n && kind & MPI_REQUEST_RECEIVES)
		kind ^= MPI_REQUEST_RECEIVES | MPI_REQUEST_TRANSFERS;
	r = request_claim(request, where.at, &kind);
	if (!r)
		return NULL;
	if (!(kind & MPI_REQUEST_PERSISTENT))
		kind |= MPI_REQUEST_ACTIVE;
	request_fill(r, t, at, ranks, kind);
	r->key = kind & MPI_REQUEST_LOCATED ? (uintptr_t)where.at : mpi_request_key(request);
	return r;
}

void mpi_request_publish(struct mpi_request *r)
{
	if (r && r->kind & MPI_REQUEST_MOVED)
		turn_set((int)(r - by_place), turn_next(&queues[r->queue]));
	if (r)
		mpi_request_release(r, r->key);
}

struct mpi_request *mpi_request_hold(MPI_Request handle, struct mpi_place where)
{
	int slot;

	if (handle == mpi.request_null)
		return NULL;
	if (mpi_request_is_shared(handle)) {
		slot = mpi_table_hold(places, (uintptr_t)where.at);
		return slot < 0 ? moved_hold() : &by_place[slot];
	}
	slot = mpi_table_hold(handles, mpi_request_key(handle));
	return slot < 0 ? NULL : &by_handle[slot];
}

/* Return a held record, under the handle that is at @where now. */
static void mpi_request_return(struct mpi_request *r, struct mpi_place where)
{
	uintptr_t key = mpi_request_key(mpi_place_request(where));

	/* MPI_Start may put another handle into the variable (Open MPI's pml ob1 does) */
	if (!(r->kind & MPI_REQUEST_LOCATED) && r->key != key) {
		struct mpi_request *moved = handle_claim(key);

		if (moved) {
			if (!moved->kind)
				mpi_requests_book(1);
			*moved = *r;
			moved->key = key;
			mpi_request_publish(moved);
		}
		mpi_request_remove(r);
		return;
	}
	mpi_request_publish(r);
}

void mpi_request_remove(struct mpi_request *r)
{
	coming_give_up(r);
	mpi_request_clear(r);
}

/* The record of the request at @where, not held: no other thread may complete it. NULL: none. */
static struct mpi_request *mpi_request_look(struct mpi_place where)
{
	return mpi_request_find(mpi_place_request(where), where);
}

void mpi_message_add(MPI_Message message, const struct tuple *t, struct mpi_comm *at,
		     struct mpi_ranks ranks)
{
	struct mpi_request *r;

	/* all messages from MPI_PROC_NULL share one handle, and are empty */
	if (message == mpi.message_null || message == mpi.message_no_proc)
		return;
	r = handle_claim(mpi_message_key(message));
	if (!r)
		return;
	request_fill(r, t, at, ranks, MPI_REQUEST_MESSAGE);
	r->key = mpi_message_key(message);
	mpi_request_publish(r);
}

struct mpi_request *mpi_message_hold(MPI_Message message)
{
	int slot = mpi_table_hold(handles, mpi_message_key(message));

	return slot < 0 ? NULL : &by_handle[slot];
}

static struct tuple tuple_about(const struct mpi_request *r, uint16_t op)
{
	struct tuple t = {.op = op, .peer = TUPLE_NO_PEER};

	if (r) {
		t.peer = mpi_request_peer(r);
		t.seq_or_tag = r->tag;
		t.comm = r->comm;
	}
	return t;
}

void mpi_start_begin(struct mpi_start *s, struct tuple *t, uint16_t op, int n,
		     struct mpi_place requests)
{
	struct mpi_request **end = &s->first, *r;
	uint64_t bytes = 0;

	s->requests = requests;
	s->first = NULL;
	for (int i = 0; i < mpi_place_requests(requests, n); i++) {
		const struct mpi_place where = mpi_place_request_at(requests, i);

		r = mpi_request_hold(mpi_place_request(where), where);
		if (!r)
			continue;
		r->position = i;
		r->next = NULL;
		*end = r;
		end = &r->next;
		bytes += r->bytes;
	}
	*t = tuple_about(s->first, op);
	t->bytes = bytes;
	for (r = s->first; r; r = r->next) {
		t->peer = mpi_request_peer(r) == t->peer ? t->peer : TUPLE_NO_PEER;
		t->comm = r->comm == t->comm ? r->comm : 0;
	}
	if (n > 1)
		t->seq_or_tag = (uint32_t)n;
}

void mpi_start_end(struct mpi_start *s, const struct tuple *t, int rc)
{
	for (struct mpi_request *r = s->first, *next; r; r = next) {
		next = r->next;
		if (rc == MPI_SUCCESS) {
			r->kind |= MPI_REQUEST_ACTIVE;
			r->start = collect_started(t);
		}
		mpi_request_return(r, mpi_place_request_at(s->requests, r->position));
	}
}

void mpi_drop_begin(struct mpi_start *s, struct tuple *t, uint16_t op, struct mpi_place request)
{
	s->requests = request;
	s->first = NULL;
	if (mpi_place_requests(request, 1))
		s->first = mpi_request_hold(mpi_place_request(request), request);
	*t = tuple_about(s->first, op);
}

void mpi_drop_end(struct mpi_start *s, int rc)
{
	if (s->first && rc == MPI_SUCCESS)
		mpi_request_remove(s->first);
	else
		mpi_request_publish(s->first);
}

void mpi_cancel_begin(struct tuple *t, uint16_t op, struct mpi_place request)
{
	struct mpi_request *r = NULL;

	if (mpi_place_requests(request, 1))
		r = mpi_request_look(request);
	if (r)
		r->kind |= MPI_REQUEST_CANCEL;
	*t = tuple_about(r, op);
}

void mpi_about(struct tuple *t, uint16_t op, MPI_Request request)
{
	*t = tuple_about(mpi_request_look(mpi_place_c(&request)), op);
}
