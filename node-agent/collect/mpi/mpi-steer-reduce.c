/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs steered reductions: along the tree, or in the order of ranks. */
#include "node-agent/collect/mpi/mpi-steer-run.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/mpi/mpi-steer-move.h"
#include "tree/data/op-table.h"

/* ---- buffers ---- */

/* How values of a type lie in memory. */
struct layout {
	MPI_Datatype type;
	int count;
	MPI_Aint extent, first; /* from one value to the next; to the first byte of data */
	size_t span;		/* from there to behind the last byte */
	bool plain;		/* there are no gaps */
};

static int layout_of(struct layout *l, int count, MPI_Datatype type)
{
	MPI_Aint lower, span;
	int rc = steer_mpi.Type_get_extent(type, &lower, &l->extent);

	if (rc == MPI_SUCCESS)
		rc = steer_mpi.Type_get_true_extent(type, &l->first, &span);
	if (rc != MPI_SUCCESS)
		return rc;
	l->type = type;
	l->count = count;
	l->span = count > 0 ? (size_t)(span + (count - 1) * labs(l->extent)) : 0;
	if (l->extent < 0 && count > 0)
		l->first += (count - 1) * l->extent;
	l->plain = l->first == 0 && lower == 0 && span == l->extent &&
		   (uint64_t)span == mpi_bytes(1, type);
	return MPI_SUCCESS;
}

/* A buffer of the layout that begins at @room. */
static void *buffer_in(const struct layout *l, char *room)
{
	return room - l->first;
}

/* Copy values; @packed is room for them without gaps. */
static int values_copy(const struct steer_call *c, const struct layout *l, void *to,
		       const void *from, char *packed)
{
	int size = (int)mpi_bytes(l->count, l->type), at = 0, rc;

	if (l->plain) {
		memmove(to, from, (size_t)size);
		return MPI_SUCCESS;
	}
	rc = steer_mpi.Pack(from, l->count, l->type, packed, size, &at, c->on->shadow);
	at = 0;
	if (rc == MPI_SUCCESS)
		rc = steer_mpi.Unpack(packed, size, &at, to, l->count, l->type, c->on->shadow);
	return rc;
}

/* ---- reductions ---- */

/* A reduction under way: room for one partial result of each neighbour, and for one without gaps.
 */
struct reducing {
	struct layout layout;
	MPI_Op op;
	char *partials, *packed;
};

static int reducing_begin(struct steer_call *c, struct reducing *r, int count, MPI_Datatype type,
			  MPI_Op op)
{
	size_t n = (size_t)c->route->n_children + (size_t)c->route->n_roots + 2;
	int rc = layout_of(&r->layout, count, type);

	if (rc != MPI_SUCCESS)
		return rc;
	r->op = op;
	/* data without gaps may take more than with them, if values overlap */
	r->packed = steer_room_make(c->on, 1,
				    n * STEER_ALIGNED(r->layout.span) + mpi_bytes(count, type));
	if (!r->packed)
		return MPI_ERR_NO_MEM;
	r->partials = r->packed + STEER_ALIGNED(mpi_bytes(count, type));
	return rc;
}

static void *partial(const struct reducing *r, int i)
{
	return buffer_in(&r->layout, r->partials + (size_t)i * STEER_ALIGNED(r->layout.span));
}

/* Join the partial result of the @i-th neighbour to @sum. */
static int join(const struct reducing *r, int i, void *sum)
{
	return steer_mpi.Reduce_local(partial(r, i), sum, r->layout.count, r->layout.type, r->op);
}

static int partial_begin(struct steer_call *c, const struct reducing *r, int i, int from)
{
	return steer_recv_begin(c, partial(r, i), r->layout.count, r->layout.type, from);
}

/* The collector before joining, and that behind it. */
static uint64_t joining_begin(const struct steer_call *c)
{
	return c->collected >> STEER_JOIN & 1 ? collect_now() : 0;
}

static void joining_end(const struct steer_call *c, uint64_t start)
{
	if (start)
		steer_record(c, OP_EVSPACE_STEER_REDUCE, -1, start);
}

/* Wait for the partial results of @n neighbours, and join them to @sum in their order, so that the
 * same tree always gives the same bits. */
static int partials_join(struct steer_call *c, const struct reducing *r, int n, void *sum)
{
	int rc = steer_all_end(c, OP_EVSPACE_STEER_UP);
	uint64_t start;

	if (n == 0)
		return rc;
	start = joining_begin(c);
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = join(r, i, sum);
	joining_end(c, start);
	return rc;
}

/* All roots join all their sums, in the same order each. */
static int roots_join(struct steer_call *c, const struct reducing *r, void *sum)
{
	const struct steer_route *route = c->route;
	int rc = MPI_SUCCESS, own = 0;
	uint64_t start;
	void *all;

	if (route->n_roots == 1)
		return rc;
	for (int32_t i = 0; i < route->n_roots && rc == MPI_SUCCESS; i++) {
		if (route->roots[i] == route->me) {
			own = i;
			continue;
		}
		rc = partial_begin(c, r, i, route->roots[i]);
		if (rc == MPI_SUCCESS)
			rc = steer_send_begin(c, sum, r->layout.count, r->layout.type,
					      route->roots[i]);
	}
	if (rc == MPI_SUCCESS)
		rc = steer_all_end(c, OP_EVSPACE_STEER_UP);
	start = joining_begin(c);
	if (rc == MPI_SUCCESS && own > 0)
		rc = values_copy(c, &r->layout, partial(r, own), sum, r->packed);
	all = own > 0 ? partial(r, 0) : sum;
	for (int32_t i = 1; i < route->n_roots && rc == MPI_SUCCESS; i++)
		rc = join(r, i, all);
	if (rc == MPI_SUCCESS && own > 0)
		rc = values_copy(c, &r->layout, sum, all, r->packed);
	joining_end(c, start);
	return rc;
}

/* Reduce in the order of ranks, at @root: bring all values there. */
static int reduce_in_order(struct steer_call *c, const void *send, void *recv, int count,
			   MPI_Datatype type, MPI_Op op, int root)
{
	struct steer_data own = {(void *)(uintptr_t)(send == MPI_IN_PLACE ? recv : send), count,
				 type};
	size_t bytes = mpi_bytes(count, type), n = (size_t)c->route->n;
	char *slots, *at;
	uint64_t start;
	struct layout l;
	void *sum, *next;
	int rc = layout_of(&l, count, type);

	if (rc != MPI_SUCCESS)
		return rc;
	slots = steer_room_make(c->on, 1, n * bytes + 3 * STEER_ALIGNED(l.span) + 64);
	if (!slots)
		return MPI_ERR_NO_MEM;
	rc = steer_slots_gather(c, slots, bytes, own, root);
	if (rc != MPI_SUCCESS || c->route->me != root)
		return rc;
	start = joining_begin(c);
	at = slots + STEER_ALIGNED(n * bytes);
	sum = buffer_in(&l, at);
	next = buffer_in(&l, at + STEER_ALIGNED(l.span));
	rc = steer_slot_take(c, slots, bytes, 0, (struct steer_data){sum, count, type});
	for (int i = 1; i < c->route->n && rc == MPI_SUCCESS; i++) {
		void *before = sum;

		rc = steer_slot_take(c, slots, bytes, i, (struct steer_data){next, count, type});
		if (rc == MPI_SUCCESS)
			rc = steer_mpi.Reduce_local(sum, next, count, type, op);
		sum = next;
		next = before;
	}
	joining_end(c, start);
	/* all slots were taken: the first is room for a copy */
	return rc == MPI_SUCCESS ? values_copy(c, &l, recv, sum, slots) : rc;
}

int steer_reduce(struct steer_call *c, const void *send, void *recv, int count, MPI_Datatype type,
		 MPI_Op op, int root)
{
	int up = steer_route_up(c->route, root), n = 0, rc, from;
	struct reducing r;
	void *sum = recv;

	if (c->in_order)
		return reduce_in_order(c, send, recv, count, type, op, root);
	rc = reducing_begin(c, &r, count, type, op);
	for (; rc == MPI_SUCCESS && (from = steer_other(c->route, up, n)) >= 0; n++)
		rc = partial_begin(c, &r, n, from);
	if (rc != MPI_SUCCESS)
		return rc;
	if (n == 0 && up >= 0)
		return steer_send_to(c, send, count, type, up);
	if (up >= 0)
		sum = partial(&r, n);
	if (send != MPI_IN_PLACE)
		rc = values_copy(c, &r.layout, sum, send, r.packed);
	if (rc == MPI_SUCCESS)
		rc = partials_join(c, &r, n, sum);
	return rc == MPI_SUCCESS && up >= 0 ? steer_send_to(c, sum, count, type, up) : rc;
}

/* By the roots' meeting, where nobody waits for a way there and back. */
static int allreduce_meeting(struct steer_call *c, const void *send, void *recv, int count,
			     MPI_Datatype type, MPI_Op op)
{
	const struct steer_route *route = c->route;
	struct reducing r;
	int rc = reducing_begin(c, &r, count, type, op);

	for (int32_t i = 0; i < route->n_own && rc == MPI_SUCCESS; i++)
		rc = partial_begin(c, &r, i, route->children[i]);
	if (rc == MPI_SUCCESS && send != MPI_IN_PLACE)
		rc = values_copy(c, &r.layout, recv, send, r.packed);
	if (rc == MPI_SUCCESS)
		rc = partials_join(c, &r, route->n_own, recv);
	if (rc != MPI_SUCCESS)
		return rc;
	if (steer_is_root(route)) {
		rc = roots_join(c, &r, recv);
	} else {
		rc = steer_send_to(c, recv, count, type, route->parent[route->me]);
		if (rc == MPI_SUCCESS)
			rc = steer_recv_from(c, recv, count, type, route->parent[route->me]);
	}
	return rc == MPI_SUCCESS ? steer_send_down(c, recv, count, type) : rc;
}

int steer_allreduce(struct steer_call *c, const void *send, void *recv, int count,
		    MPI_Datatype type, MPI_Op op)
{
	int first = c->route->order[0], rc;

	if (!c->in_order)
		return allreduce_meeting(c, send, recv, count, type, op);
	rc = reduce_in_order(c, send, recv, count, type, op, first);
	return rc == MPI_SUCCESS ? steer_bcast(c, recv, count, type, first) : rc;
}
