/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns what Wait and Test calls report into completions of the operations that were started. */
#include "node-agent/collect/mpi-wait.h"

#include <stddef.h>
#include <string.h>

#include "node-agent/collect/collect.h"
#include "node-agent/collect/mpi-calls.h"
#include "node-agent/collect/mpi-library.h"

static void held_append(struct mpi_wait *w, struct mpi_request *r, int position)
{
	r->position = position;
	r->next = NULL;
	w->asks |= (r->kind &
		    (MPI_REQUEST_RECEIVES | MPI_REQUEST_TRANSFERS | MPI_REQUEST_CANCEL)) != 0;
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

static void held_none(struct mpi_wait *w)
{
	w->unknown = 0;
	w->first = NULL;
	w->last = NULL;
}

static void hold_all(struct mpi_wait *w)
{
	held_none(w);
	for (int i = 0; i < w->n; i++)
		held_add(w, i, mpi_place_request(mpi_place_request_at(w->requests, i)));
}

/* Whom the call has to do with: the requests' peer and communicator if they have all the same. */
static void tuple_about(struct tuple *t, uint16_t op, const struct mpi_wait *w)
{
	const struct mpi_request *r = w->first;

	*t = (struct tuple){.op = op, .peer = TUPLE_NO_PEER};
	if (!r)
		return;
	t->peer = r->peer;
	t->comm = r->comm;
	for (; r; r = r->next) {
		t->seq_or_tag++;
		if (r->peer != t->peer)
			t->peer = TUPLE_ANY_PEER;
		if (r->comm != t->comm)
			t->comm = 0;
	}
}

void mpi_wait_begin(struct mpi_wait *w, struct tuple *t, uint16_t op, int n,
		    struct mpi_place requests)
{
	w->requests = requests;
	w->n = n;
	w->late = false;
	w->asks = false;
	hold_all(w);
	tuple_about(t, op, w);
	t->seq_or_tag += (uint32_t)w->unknown;
}

/* The tuple of a completion: from the status where that is a receive's, else as posted. */
static void completion_fill(struct tuple *c, const struct mpi_request *r, const MPI_Status *status)
{
	const unsigned number = r->kind & MPI_REQUEST_UNNUMBERED ? TUPLE_UNNUMBERED : 0;
	int cancelled = 0;

	c->start = r->start;
	collect_words(
		c, r->bytes, element_word((uint32_t)r->peer, r->tag),
		element_word(r->comm, element_half(r->op, (uint16_t)(TUPLE_COMPLETION | number))));
	if (!status)
		return;
	if (r->kind & MPI_REQUEST_CANCEL)
		mpi.Test_cancelled(status, &cancelled);
	if (cancelled) {
		c->flags |= TUPLE_CANCELLED;
		c->bytes = 0;
	} else if (r->kind & MPI_REQUEST_RECEIVES) {
		mpi_tuple_received(c, r->ranks, status);
	} else if (r->kind & MPI_REQUEST_TRANSFERS) {
		mpi_tuple_moved(c, status);
	}
}

/* Request @r is complete: append its tuple, and take it off the record or make it inactive. */
static void request_complete(struct mpi_request *r, const MPI_Status *status, bool failed,
			     struct tuple *call)
{
	struct collect_classes *classes =
		r->at && r->at->id == r->comm ? &r->at->classes : &collect_none;
	struct tuple c;

	completion_fill(&c, r, failed ? NULL : status);
	/* calls that are only counted have no times */
	if (!call->end)
		call->end = collect_now();
	c.end = call->end;
	if (!c.start)
		c.start = c.end;
	if (failed) {
		c.flags |= TUPLE_FAILED;
		c.bytes = 0;
	}
	if (r->coming && !failed)
		mpi_comm_arrived(r->coming);
	if (r->kind & MPI_REQUEST_PERSISTENT) {
		r->kind &= (uint16_t) ~(MPI_REQUEST_ACTIVE | MPI_REQUEST_CANCEL);
		mpi_request_publish(r);
	} else {
		mpi_request_remove(r);
	}
	if (call->seq_or_tag++ == 0) {
		call->peer = c.peer;
		call->comm = c.comm;
	} else {
		call->peer = c.peer == call->peer ? c.peer : TUPLE_NO_PEER;
		call->comm = c.comm == call->comm ? c.comm : 0;
	}
	collect_extra(&c, classes, CHANNEL_COMPLETION);
}

static bool is_collected(unsigned channel)
{
	return collect_mode(collect_class(&collect_none, channel)) != MODE_OFF;
}

static void unknown_complete(struct tuple *call)
{
	struct tuple c = {
		.start = call->start,
		.end = call->end,
		.peer = TUPLE_NO_PEER,
		.op = 0,
		.flags = TUPLE_COMPLETION | TUPLE_UNATTRIBUTED,
	};

	call->seq_or_tag++;
	/* it may have been started by a class of operations that is not collected */
	if (is_collected(CHANNEL_P2P) && is_collected(CHANNEL_COLLECTIVE))
		collect_extra(&c, &collect_none, CHANNEL_COMPLETION);
}

/* Take the record of position @i out of the held ones; *@from is where the last one was found. */
static struct mpi_request *held_take(struct mpi_wait *w, int i, struct mpi_request ***from)
{
	struct mpi_request **at = *from, *r;

	/* MPI gives indices in ascending order, mostly: go on from there, else from the start */
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

static void position_complete(struct mpi_wait *w, int i, const MPI_Status *status, bool failed,
			      struct mpi_request ***from, struct tuple *call)
{
	struct mpi_request *r;

	if (w->late) {
		held_none(w);
		*from = &w->first;
		held_add(w, i, w->handles[i]);
	}
	r = held_take(w, i, from);
	if (r)
		request_complete(r, status, failed, call);
	else if (w->unknown)
		unknown_complete(call);
}

/* After an error only the handles tell: what is MPI_REQUEST_NULL now has been completed
 * (MPI-3.1 3.7.5). */
static bool position_done(const struct mpi_wait *w, int i, int rc, const MPI_Status *status,
			  bool *failed)
{
	*failed = false;
	if (rc == MPI_SUCCESS)
		return true;
	if (mpi_error_class(rc) == MPI_ERR_IN_STATUS && status) {
		*failed = status->MPI_ERROR != MPI_SUCCESS;
		return status->MPI_ERROR != MPI_ERR_PENDING;
	}
	*failed = true;
	return mpi_place_is_null(mpi_place_request_at(w->requests, i));
}

static void all_complete(struct mpi_wait *w, int rc, const MPI_Status *statuses, struct tuple *call)
{
	struct mpi_request *r, *next, *left = NULL, **end = &left;
	bool failed;

	if (w->late)
		for (int i = 0; i < w->n; i++)
			held_add(w, i, w->handles[i]);
	for (r = w->first; r; r = next) {
		const MPI_Status *status = statuses ? &statuses[r->position] : NULL;

		next = r->next;
		if (position_done(w, r->position, rc, status, &failed)) {
			request_complete(r, status, failed, call);
		} else {
			r->next = NULL;
			*end = r;
			end = &r->next;
		}
	}
	w->first = left;
	for (int i = 0; rc == MPI_SUCCESS && i < w->unknown; i++)
		unknown_complete(call);
}

static void some_complete(struct mpi_wait *w, int rc, const struct mpi_wait_answer *a,
			  struct tuple *call)
{
	struct mpi_request **from = &w->first;
	int n = *a->outcount == MPI_UNDEFINED ? 0 : *a->outcount;
	bool failed;

	for (int k = 0; k < n; k++) {
		const MPI_Status *status = a->statuses ? &a->statuses[k] : NULL;
		int i = a->indices[k] - a->first;

		if (i >= 0 && i < w->n && position_done(w, i, rc, status, &failed))
			position_complete(w, i, status, failed, &from, call);
	}
}

static void any_complete(struct mpi_wait *w, const struct mpi_wait_answer *a, struct tuple *call)
{
	struct mpi_request **from = &w->first;
	int i = *a->index - a->first;

	if (i >= 0 && i < w->n)
		position_complete(w, i, a->statuses, false, &from, call);
}

static void answer_read(struct mpi_wait *w, struct tuple *call, int rc, enum mpi_wait_which which,
			const struct mpi_wait_answer *a)
{
	call->seq_or_tag = 0;
	/* Open MPI tells Fortran neither statuses nor indices of a call that fails */
	if (rc != MPI_SUCCESS && (w->requests.fortran || mpi_error_class(rc) != MPI_ERR_IN_STATUS))
		all_complete(w, rc, NULL, call);
	else if (which == MPI_WAIT_SOME)
		some_complete(w, rc, a, call);
	else if (which == MPI_WAIT_ANY)
		any_complete(w, a, call);
	else
		all_complete(w, rc, a->statuses, call);
}

/* What was not completed goes back on record. */
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
	if (w->late)
		held_none(w);
	answer_read(w, t, rc, which, answer);
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
