/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns what Wait and Test calls report into completions of the operations that were started. */
#include "node-agent/collect/mpi/mpi-wait.h"

#include <stddef.h>
#include <string.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-request-table.h"

/* What the requests of a call have in common so far. */
struct mpi_wait_common {
	uint32_t n;
	int32_t peer;
	uint32_t comm;
};

static const struct mpi_wait_common common_none = {.peer = TUPLE_NO_PEER};

/* Add a request; @differ is the peer if peers differ. */
static inline void common_add(struct mpi_wait_common *c, int32_t peer, uint32_t comm,
			      int32_t differ)
{
	if (__builtin_expect(c->n++ == 0, 0)) {
		c->peer = peer;
		c->comm = comm;
		return;
	}
	c->peer = peer == c->peer ? peer : differ;
	c->comm = comm == c->comm ? comm : 0;
}

/* ---- before the call ---- */

#define ASKS (MPI_REQUEST_RECEIVES | MPI_REQUEST_TRANSFERS | MPI_REQUEST_CANCEL)

static void held_append(struct mpi_wait *w, struct mpi_request *r, int position)
{
	r->position = position;
	r->next = NULL;
	w->asks |= (r->kind & ASKS) != 0;
	if (w->last)
		w->last->next = r;
	else
		w->first = r;
	w->last = r;
}

/* Hold the record of request @i, if it is one that can be completed. */
static void held_add(struct mpi_wait *w, int i, MPI_Request handle)
{
	struct mpi_request *r = mpi_request_hold(handle, mpi_place_request_at(w->requests, i));

	if (r && r->kind & MPI_REQUEST_ACTIVE)
		held_append(w, r, i);
	else if (r)
		mpi_request_publish(r);
	else if (handle != mpi.request_null)
		w->unknown++;
}

static void hold_all(struct mpi_wait *w)
{
	w->unknown = 0;
	w->first = NULL;
	w->last = NULL;
	for (int i = 0; i < w->n; i++)
		held_add(w, i, mpi_place_request(mpi_place_request_at(w->requests, i)));
}

/* No other thread can use the requests during the call, so look their records up. False: one is
 * not where it was stored, so they must be held. */
static bool look_all(struct mpi_wait *w, struct mpi_wait_common *c)
{
	unsigned kinds = 0;
	int unknown = 0;

	for (int i = 0; i < w->n; i++) {
		const struct mpi_place where = mpi_place_request_at(w->requests, i);
		MPI_Request handle = mpi_place_request(where);
		struct mpi_request *r = mpi_request_find(handle, where);

		w->records[i] = NULL;
		if (__builtin_expect(!r, 0)) {
			if (handle == mpi.request_null)
				continue;
			if (mpi_request_is_shared(handle))
				return false;
			unknown++;
		} else if (__builtin_expect(r->kind & MPI_REQUEST_ACTIVE, 1)) {
			w->records[i] = r;
			kinds |= r->kind;
			common_add(c, mpi_request_peer(r), r->comm, TUPLE_ANY_PEER);
		}
	}
	w->asks = (kinds & ASKS) != 0;
	w->unknown = unknown;
	return true;
}

void mpi_wait_begin(struct mpi_wait *w, struct tuple *t, uint16_t op, int n,
		    struct mpi_place requests)
{
	struct mpi_wait_common c = common_none;

	n = mpi_place_requests(requests, n);
	w->requests = requests;
	w->n = n;
	w->how = MPI_WAIT_LOOKED;
	if (mpi.multiple || n > MPI_WAIT_ROOM || !look_all(w, &c)) {
		c = common_none;
		w->how = MPI_WAIT_HELD;
		w->asks = false;
		hold_all(w);
		for (const struct mpi_request *r = w->first; r; r = r->next)
			common_add(&c, mpi_request_peer(r), r->comm, TUPLE_ANY_PEER);
	}
	t->start = t->end = 0;
	collect_fill(t, op, c.comm, c.peer, c.n + (uint32_t)w->unknown, 0);
}

/* ---- completions ---- */

/* A call's completions. */
struct mpi_wait_ending {
	uint64_t start, end; /* of the call */
	struct mpi_wait_common common;
};

static __attribute__((noinline)) bool is_cancelled(const MPI_Status *status)
{
	int cancelled = 0;

	mpi.Test_cancelled(status, &cancelled);
	return cancelled;
}

/* Set the tuple of a completion, with its flags: from the status if it is a receive's, else as
 * posted. */
static inline void completion_fill(struct tuple *c, const struct mpi_request *r,
				   const MPI_Status *status, bool failed)
{
	const unsigned kind = r->kind;
	unsigned flags = TUPLE_COMPLETION | (kind & MPI_REQUEST_UNNUMBERED ? TUPLE_UNNUMBERED : 0u);
	struct tuple got;

	collect_words(&got, r->bytes, element_word((uint32_t)r->peer, r->tag), 0);
	if (__builtin_expect(failed, 0)) {
		flags |= TUPLE_FAILED;
		got.bytes = 0;
	} else if (!status) {
		/* as posted */
	} else if (__builtin_expect(kind & MPI_REQUEST_CANCEL && is_cancelled(status), 0)) {
		flags |= TUPLE_CANCELLED;
		got.bytes = 0;
	} else if (kind & MPI_REQUEST_RECEIVES) {
		mpi_tuple_received(&got, r->ranks, status);
	} else if (kind & MPI_REQUEST_TRANSFERS) {
		mpi_tuple_moved(&got, status);
	}
	collect_words(c, got.bytes, collect_whom(&got),
		      element_word(r->comm, element_half(r->op, (uint16_t)flags)));
}

/* Request @r is complete: append its tuple, and free its record or make it inactive. */
static __attribute__((noinline)) void request_complete(struct mpi_request *r,
						       const MPI_Status *status, bool failed,
						       struct mpi_wait_ending *e)
{
	struct collect_classes *classes = &collect_none;
	const bool together = r->kind & MPI_REQUEST_COLLECTIVE;
	struct tuple c;

	if (__builtin_expect(r->at && r->at->id == r->comm, 1))
		classes = &r->at->classes;
	c.start = r->start ? r->start : e->end;
	c.end = e->end;
	completion_fill(&c, r, status, failed);
	if (__builtin_expect(r->kind & MPI_REQUEST_BRINGS, 0))
		mpi_comm_arrived(r->coming, !failed);
	if (__builtin_expect(r->kind & MPI_REQUEST_PERSISTENT, 0)) {
		r->kind &= (uint16_t) ~(MPI_REQUEST_ACTIVE | MPI_REQUEST_CANCEL);
		mpi_request_publish(r);
	} else {
		mpi_request_clear(r);
	}
	common_add(&e->common, together ? TUPLE_NO_PEER : c.peer, c.comm, TUPLE_NO_PEER);
	collect_extra(&c, classes, CHANNEL_COMPLETION);
}

static bool is_collected(unsigned channel)
{
	return collect_mode(collect_class(&collect_none, channel)) != MODE_OFF;
}

static void unknown_complete(struct mpi_wait_ending *e)
{
	struct tuple c = {
		.start = e->start,
		.end = e->end,
		.peer = TUPLE_NO_PEER,
		.op = 0,
		.flags = TUPLE_COMPLETION | TUPLE_UNATTRIBUTED,
	};

	e->common.n++;
	/* its operation's class may not be collected */
	if (is_collected(CHANNEL_P2P) && is_collected(CHANNEL_COLLECTIVE))
		collect_extra(&c, &collect_none, CHANNEL_COMPLETION);
}

/* If a program passes a request twice, it is completed once. */
static inline bool is_active(const struct mpi_request *r)
{
	return r && r->kind & MPI_REQUEST_ACTIVE;
}

/* Remove the record of position @i from the held ones; *@from is where the last one was found. */
static struct mpi_request *held_take(struct mpi_wait *w, int i, struct mpi_request ***from)
{
	struct mpi_request **at = *from, *r;

	/* MPI mostly returns ascending indexes: search on from there, else from the start */
	if (!*at || (*at)->position > i)
		at = &w->first;
	while (*at && (*at)->position < i)
		at = &(*at)->next;
	*from = at;
	r = *at;
	if (!r || r->position != i)
		return NULL;
	*at = r->next;
	return r;
}

/* Hold the record of handle @i of a late call, if it can be completed. */
static struct mpi_request *late_take(struct mpi_wait *w, int i)
{
	struct mpi_request *r =
		mpi_request_hold(w->handles[i], mpi_place_request_at(w->requests, i));

	if (r && !(r->kind & MPI_REQUEST_ACTIVE)) {
		mpi_request_publish(r);
		return NULL;
	}
	w->unknown += !r && w->handles[i] != mpi.request_null;
	return r;
}

/* Take the record of position @i, or NULL. */
static struct mpi_request *position_take(struct mpi_wait *w, int i, struct mpi_request ***from)
{
	struct mpi_request *r;

	if (w->how == MPI_WAIT_HELD)
		return held_take(w, i, from);
	if (w->how == MPI_WAIT_LATE)
		return late_take(w, i);
	r = w->records[i];
	return is_active(r) ? r : NULL;
}

static void position_complete(struct mpi_wait *w, int i, const MPI_Status *status, bool failed,
			      struct mpi_request ***from, struct mpi_wait_ending *e)
{
	struct mpi_request *r;

	if (w->how == MPI_WAIT_LATE)
		w->unknown = 0;
	r = position_take(w, i, from);
	if (r)
		request_complete(r, status, failed, e);
	else if (w->unknown)
		unknown_complete(e);
}

/* After an error only the handles show what has completed: those that are MPI_REQUEST_NULL now
 * (MPI-3.1 3.7.5). */
static bool position_done(const struct mpi_wait *w, int i, int rc, const MPI_Status *status,
			  bool *failed)
{
	*failed = false;
	if (rc == MPI_SUCCESS)
		return true;
	if (mpi_is_in_status(rc) && status) {
		*failed = status->MPI_ERROR != MPI_SUCCESS;
		return status->MPI_ERROR != MPI_ERR_PENDING;
	}
	*failed = true;
	return mpi_place_is_null(mpi_place_request_at(w->requests, i));
}

/* How completions on one communicator are recorded; `at` NULL: not known yet. */
struct mpi_wait_lane {
	const struct mpi_comm *at;
	uint32_t comm;
	unsigned class;
	bool traced; /* else nothing is collected of it */
};

/* The lane of @r, if what is completed there is traced, or off. */
static __attribute__((noinline)) bool lane_find(struct mpi_wait_lane *lane,
						const struct mpi_request *r)
{
	unsigned mode;

	if (!r->at || r->at->id != r->comm)
		return false;
	lane->class = collect_class(&r->at->classes, CHANNEL_COMPLETION);
	mode = collect_mode(lane->class);
	if (mode != MODE_TRACE && mode != MODE_OFF)
		return false;
	lane->traced = mode == MODE_TRACE;
	lane->at = r->at;
	lane->comm = r->comm;
	return true;
}

/* request_complete() without its checks, for a plain receive. False: not done. */
static inline __attribute__((always_inline)) bool receive_complete(struct mpi_request *r,
								   const MPI_Status *status,
								   uint64_t end,
								   struct mpi_wait_lane *lane,
								   struct mpi_wait_common *common)
{
	struct tuple c;

	if (__builtin_expect(!lane->at || r->at != lane->at || r->comm != lane->comm, 0) &&
	    !lane_find(lane, r))
		return false;
	c.start = r->start ? r->start : end;
	c.end = end;
	collect_words(&c, 0, 0, element_word(r->comm, element_half(r->op, TUPLE_COMPLETION)));
	mpi_tuple_received(&c, r->ranks, status);
	mpi_request_clear(r);
	common_add(common, c.peer, c.comm, TUPLE_NO_PEER);
	if (__builtin_expect(lane->traced, 1))
		collect_append(&c, CHANNEL_COMPLETION, lane->class);
	return true;
}

/* Complete all looked-up requests of a successful call: the path of most receives. */
static void looked_complete(const struct mpi_wait *w, const MPI_Status *statuses,
			    struct mpi_wait_ending *e)
{
	struct mpi_wait_lane lane = {.at = NULL};
	struct mpi_wait_common common = e->common; /* a copy, so that it can stay in registers */
	const uint64_t end = e->end;
	const int n = w->n;

	for (int i = 0; i < n; i++) {
		struct mpi_request *r = w->records[i];

		if (!is_active(r) ||
		    (statuses && r->kind == (MPI_REQUEST_RECEIVES | MPI_REQUEST_ACTIVE) &&
		     receive_complete(r, &statuses[i], end, &lane, &common)))
			continue;
		e->common = common;
		request_complete(r, statuses ? &statuses[i] : NULL, false, e);
		common = e->common;
	}
	e->common = common;
}

static void all_complete(struct mpi_wait *w, int rc, const MPI_Status *statuses,
			 struct mpi_wait_ending *e)
{
	struct mpi_request **from = &w->first;
	bool failed;

	if (w->how == MPI_WAIT_LOOKED && rc == MPI_SUCCESS) {
		looked_complete(w, statuses, e);
	} else {
		for (int i = 0; i < w->n; i++) {
			const MPI_Status *status = statuses ? &statuses[i] : NULL;
			struct mpi_request *r = NULL;

			if (position_done(w, i, rc, status, &failed))
				r = position_take(w, i, &from);
			if (r)
				request_complete(r, status, failed, e);
		}
	}
	for (int i = 0; rc == MPI_SUCCESS && i < w->unknown; i++)
		unknown_complete(e);
}

static void some_complete(struct mpi_wait *w, int rc, const struct mpi_wait_answer *a,
			  struct mpi_wait_ending *e)
{
	struct mpi_request **from = &w->first;
	int n = *a->outcount == MPI_UNDEFINED ? 0 : *a->outcount;
	bool failed;

	for (int k = 0; k < n; k++) {
		const MPI_Status *status = a->statuses ? &a->statuses[k] : NULL;
		int i = a->indices[k] - a->first;

		if (i >= 0 && i < w->n && position_done(w, i, rc, status, &failed))
			position_complete(w, i, status, failed, &from, e);
	}
}

static void any_complete(struct mpi_wait *w, const struct mpi_wait_answer *a,
			 struct mpi_wait_ending *e)
{
	struct mpi_request **from = &w->first;
	int i = *a->index - a->first;

	if (i >= 0 && i < w->n)
		position_complete(w, i, a->statuses, false, &from, e);
}

static void answer_read(struct mpi_wait *w, int rc, enum mpi_wait_which which,
			const struct mpi_wait_answer *a, struct mpi_wait_ending *e)
{
	/* Open MPI gives Fortran neither statuses nor indexes of a failed call */
	if (rc != MPI_SUCCESS && (w->requests.fortran || !mpi_is_in_status(rc)))
		all_complete(w, rc, NULL, e);
	else if (which == MPI_WAIT_SOME)
		some_complete(w, rc, a, e);
	else if (which == MPI_WAIT_ANY)
		any_complete(w, a, e);
	else
		all_complete(w, rc, a->statuses, e);
}

/* Return the records of what was not completed. */
static void put_back(struct mpi_wait *w)
{
	for (struct mpi_request *r = w->first, *next; r; r = next) {
		next = r->next;
		mpi_request_publish(r);
	}
}

void mpi_wait_end(struct mpi_wait *w, struct tuple *t, int rc, enum mpi_wait_which which,
		  const struct mpi_wait_answer *answer)
{
	struct mpi_wait_ending e = {.start = t->start, .end = t->end, .common = common_none};

	/* calls that are only counted have no times */
	if (!e.end)
		e.end = collect_now();
	if (w->how != MPI_WAIT_HELD)
		w->first = NULL;
	if (w->how == MPI_WAIT_LATE)
		w->unknown = 0;
	e.common.peer = t->peer;
	e.common.comm = t->comm;
	answer_read(w, rc, which, answer, &e);
	t->end = e.end;
	t->peer = e.common.peer;
	t->seq_or_tag = e.common.n;
	t->comm = e.common.comm;
	put_back(w);
}

void mpi_test_hold(struct mpi_wait *w)
{
	hold_all(w);
}

void mpi_test_put_back(struct mpi_wait *w)
{
	put_back(w);
}
