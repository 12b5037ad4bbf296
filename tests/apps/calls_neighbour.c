/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbourhood collectives, on a line of ranks without ends joined and on a ring. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 16, SIDES = 2 };

/* What goes from one rank to another depends on both, not on the side: on a ring of two both are
 * one. */
static int what_of(int from, int to)
{
	return from * 31 + to;
}

static void neighbours_check(const char *op, const struct calls *on, const int *side,
			     const int *counts, const int *displs, const int *in, int to_all)
{
	for (int s = 0; s < SIDES; s++) {
		if (side[s] != MPI_PROC_NULL)
			calls_check(op, in + displs[s], counts[s], side[s],
				    to_all ? 1 : what_of(side[s], on->rank));
	}
}

static void allgathers(const struct calls *on, int nb, const int *side)
{
	int mine[N], in[SIDES * N];
	const int counts[SIDES] = {N, N}, displs[SIDES] = {0, N};

	calls_fill(mine, N, on->rank, 1);
	COLL(nb, MPI_Neighbor_allgather, MPI_Ineighbor_allgather, INTS(N), mine, N, MPI_INT, in, N,
	     MPI_INT, on->comm);
	neighbours_check("MPI_Neighbor_allgather", on, side, counts, displs, in, 1);
	COLL(nb, MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, INTS(N), mine, N, MPI_INT, in,
	     counts, displs, MPI_INT, on->comm);
	neighbours_check("MPI_Neighbor_allgatherv", on, side, counts, displs, in, 1);
}

static void alltoalls(const struct calls *on, int nb, const int *side)
{
	int out[SIDES * N], in[SIDES * N];
	const int counts[SIDES] = {N, N}, displs[SIDES] = {0, N};
	const int less[SIDES] = {N / 2, N / 2};
	const MPI_Aint bytes[SIDES] = {0, (MPI_Aint)INTS(N)};
	const MPI_Datatype types[SIDES] = {MPI_INT, MPI_INT32_T};

	for (int s = 0; s < SIDES; s++)
		calls_fill(out + displs[s], N, on->rank, what_of(on->rank, side[s]));
	COLL(nb, MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, INTS(SIDES * N), out, N, MPI_INT,
	     in, N, MPI_INT, on->comm);
	neighbours_check("MPI_Neighbor_alltoall", on, side, counts, displs, in, 0);
	COLL(nb, MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, INTS(N), out, less, displs,
	     MPI_INT, in, less, displs, MPI_INT, on->comm);
	neighbours_check("MPI_Neighbor_alltoallv", on, side, less, displs, in, 0);
	COLL(nb, MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, INTS(SIDES * N), out, counts,
	     bytes, types, in, counts, bytes, types, on->comm);
	neighbours_check("MPI_Neighbor_alltoallw", on, side, counts, displs, in, 0);
}

static void on_cart(const struct calls *on, int nonblocking, int periodic)
{
	int dims[1] = {on->size}, periods[1] = {periodic}, side[SIDES];
	struct calls cart;
	MPI_Comm comm;

	COUNT(MPI_Cart_create, 0);
	MPI_Cart_create(on->comm, 1, dims, periods, 0, &comm);
	calls_on(&cart, comm);
	MPI_Cart_shift(comm, 0, 1, &side[0], &side[1]);
	allgathers(&cart, nonblocking, side);
	alltoalls(&cart, nonblocking, side);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&comm);
}

void calls_neighbour(const struct calls *on, int nonblocking)
{
	on_cart(on, nonblocking, 0);
	on_cart(on, nonblocking, 1);
}
