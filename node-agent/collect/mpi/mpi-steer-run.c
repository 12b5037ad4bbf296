/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs steered collectives that compute nothing: barrier, bcast, gather, scatter, allgather. */
#include "node-agent/collect/mpi/mpi-steer-run.h"

#include "node-agent/collect/mpi/mpi-calls.h"
#include "node-agent/collect/mpi/mpi-steer-move.h"
#include "tree/data/op-table.h"

/* ---- barrier, bcast ---- */

/* Roots tell each other that their trees have come. */
static int roots_meet(struct steer_call *c)
{
	int rc = MPI_SUCCESS;

	for (int32_t i = 0; i < c->route->n_roots && rc == MPI_SUCCESS; i++) {
		int root = c->route->roots[i];

		if (root == c->route->me)
			continue;
		rc = steer_recv_begin(c, NULL, 0, mpi.byte, root);
		if (rc == MPI_SUCCESS)
			rc = steer_send_begin(c, NULL, 0, mpi.byte, root);
	}
	return rc == MPI_SUCCESS ? steer_all_end(c, OP_EVSPACE_STEER_UP) : rc;
}

int steer_barrier(struct steer_call *c)
{
	const struct steer_route *route = c->route;
	int rc = MPI_SUCCESS;

	for (int32_t i = 0; i < route->n_own && rc == MPI_SUCCESS; i++)
		rc = steer_recv_begin(c, NULL, 0, mpi.byte, route->children[i]);
	if (rc == MPI_SUCCESS)
		rc = steer_all_end(c, OP_EVSPACE_STEER_UP);
	if (rc != MPI_SUCCESS)
		return rc;
	if (steer_is_root(route)) {
		rc = roots_meet(c);
	} else {
		rc = steer_send_to(c, NULL, 0, mpi.byte, route->parent[route->me]);
		if (rc == MPI_SUCCESS)
			rc = steer_recv_from(c, NULL, 0, mpi.byte, route->parent[route->me]);
	}
	return rc == MPI_SUCCESS ? steer_send_down(c, NULL, 0, mpi.byte) : rc;
}

int steer_bcast(struct steer_call *c, void *buffer, int count, MPI_Datatype type, int root)
{
	int up = steer_route_up(c->route, root), rc = MPI_SUCCESS;

	if (up >= 0)
		rc = steer_recv_from(c, buffer, count, type, up);
	return rc == MPI_SUCCESS ? steer_send_others(c, buffer, count, type, up) : rc;
}

/* The data of @member in a buffer of all. */
static struct steer_data data_of(struct steer_data all, MPI_Aint extent, int member)
{
	all.at = (char *)all.at + (MPI_Aint)member * all.count * extent;
	return all;
}

/* What is in the slots, but of @except, into a buffer of all. */
static int slots_take(const struct steer_call *c, const char *slots, size_t bytes,
		      struct steer_data all, int except)
{
	MPI_Aint lower, extent;
	int rc = steer_mpi.Type_get_extent(all.type, &lower, &extent);

	for (int i = 0; i < c->route->n && rc == MPI_SUCCESS; i++)
		if (i != except)
			rc = steer_slot_take(c, slots, bytes, i, data_of(all, extent, i));
	return rc;
}

/* Where the data of this member is: in the buffer of all, if MPI_IN_PLACE says so. */
static int own_find(const struct steer_call *c, struct steer_data *own, struct steer_data all)
{
	MPI_Aint lower, extent;
	int rc = MPI_SUCCESS;

	if (own->at != MPI_IN_PLACE)
		return rc;
	rc = steer_mpi.Type_get_extent(all.type, &lower, &extent);
	if (rc == MPI_SUCCESS)
		*own = data_of(all, extent, c->route->me);
	return rc;
}

int steer_gather(struct steer_call *c, struct steer_data own, struct steer_data all, size_t bytes,
		 int root)
{
	char *slots = steer_room_make(c->on, (size_t)c->route->n, bytes);
	int except = own.at == MPI_IN_PLACE ? root : -1, rc;

	if (!slots)
		return MPI_ERR_NO_MEM;
	rc = own_find(c, &own, all);
	if (rc == MPI_SUCCESS)
		rc = steer_slots_gather(c, slots, bytes, own, root);
	if (rc != MPI_SUCCESS || c->route->me != root)
		return rc;
	return slots_take(c, slots, bytes, all, except);
}

/* The root's data of all, into slots. */
static int slots_fill(const struct steer_call *c, char *slots, size_t bytes, struct steer_data all)
{
	MPI_Aint lower, extent;
	int rc = steer_mpi.Type_get_extent(all.type, &lower, &extent);

	for (int i = 0; i < c->route->n && rc == MPI_SUCCESS; i++) {
		struct steer_data one = data_of(all, extent, i);
		int at = 0;

		rc = steer_mpi.Pack(one.at, one.count, one.type,
				    slots + (size_t)c->route->at[i] * bytes, (int)bytes, &at,
				    c->on->shadow);
	}
	return rc;
}

int steer_scatter(struct steer_call *c, struct steer_data own, struct steer_data all, size_t bytes,
		  int root)
{
	char *slots = steer_room_make(c->on, (size_t)c->route->n, bytes);
	int up = steer_route_up(c->route, root), rc;

	if (!slots)
		return MPI_ERR_NO_MEM;
	if (up < 0) {
		rc = slots_fill(c, slots, bytes, all);
	} else {
		rc = steer_span_move(c, slots, bytes, steer_route_hither(c->route, up), up, false);
		if (rc == MPI_SUCCESS)
			rc = steer_all_end(c, OP_EVSPACE_STEER_DOWN);
	}
	if (rc == MPI_SUCCESS)
		rc = steer_spans_move(c, slots, bytes, up, true);
	if (rc != MPI_SUCCESS || own.at == MPI_IN_PLACE)
		return rc;
	return steer_slot_take(c, slots, bytes, c->route->me, own);
}

int steer_allgather(struct steer_call *c, struct steer_data own, struct steer_data all,
		    size_t bytes)
{
	char *slots = steer_room_make(c->on, (size_t)c->route->n, bytes);
	int first = c->route->order[0], up = steer_route_up(c->route, first);
	int n = (int)((size_t)c->route->n * bytes), rc;

	if (!slots)
		return MPI_ERR_NO_MEM;
	rc = own_find(c, &own, all);
	if (rc == MPI_SUCCESS)
		rc = steer_slots_gather(c, slots, bytes, own, first);
	if (rc == MPI_SUCCESS && up >= 0)
		rc = steer_recv_from(c, slots, n, mpi.byte, up);
	if (rc == MPI_SUCCESS)
		rc = steer_send_others(c, slots, n, mpi.byte, up);
	return rc == MPI_SUCCESS ? slots_take(c, slots, bytes, all, -1) : rc;
}
