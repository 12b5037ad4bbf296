/* SPDX-License-Identifier: BSD-3-Clause */
/* Updates records of requests that are started again, cancelled or freed. */
#include "node-agent/collect/mpi/mpi-start.h"

#include <stddef.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/mpi/mpi-calls.h"

static struct tuple tuple_about(const struct mpi_request *r, uint16_t op)
{
	struct tuple t = {.op = op, .peer = TUPLE_NO_PEER};

	if (r) {
		t.peer = r->peer;
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
		t->peer = r->peer == t->peer ? r->peer : TUPLE_NO_PEER;
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
			r->start = t->start;
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
