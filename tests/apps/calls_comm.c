/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, using and freeing communicators in all ways that stay within one group of ranks. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 8, TAG = 80 };

/* Members find each other on the new communicator: a ring of messages, and a sum. */
static void comm_use(const char *made_by, MPI_Comm comm)
{
	int out[N], in[N], one = 1, sum = 0;
	struct calls on;

	calls_on(&on, comm);
	calls_fill(out, N, on.rank, 1);
	COUNT(MPI_Sendrecv, INTS(N));
	counts_done("MPI_Sendrecv", 1, INTS(N));
	MPI_Sendrecv(out, N, MPI_INT, on.right, TAG, in, N, MPI_INT, on.left, TAG, comm,
		     MPI_STATUS_IGNORE);
	calls_check(made_by, in, N, on.left, 1);
	COUNT(MPI_Allreduce, INTS(1));
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	calls_must(sum == on.size, "%s: %d of %d ranks took part", made_by, sum, on.size);
}

static void comm_free(MPI_Comm *comm)
{
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(comm);
}

/* Use it if we are in it, and free it. */
static void comm_end(const char *made_by, MPI_Comm comm)
{
	if (comm == MPI_COMM_NULL)
		return;
	comm_use(made_by, comm);
	comm_free(&comm);
}

static void dups(const struct calls *on)
{
	MPI_Comm comm, of_dup;
	MPI_Request request;

	/* Handles come again: a new communicator may have that of one that was freed. */
	for (int i = 0; i < 3; i++) {
		COUNT(MPI_Comm_dup, 0);
		MPI_Comm_dup(on->comm, &comm);
		COUNT(MPI_Comm_dup, 0);
		MPI_Comm_dup(comm, &of_dup);
		comm_use("MPI_Comm_dup", of_dup);
		comm_end("MPI_Comm_dup", comm);
		comm_end("MPI_Comm_dup", of_dup);
	}
	COUNT(MPI_Comm_dup_with_info, 0);
	MPI_Comm_dup_with_info(on->comm, MPI_INFO_NULL, &comm);
	comm_end("MPI_Comm_dup_with_info", comm);
	COUNT(MPI_Comm_idup, 0);
	MPI_Comm_idup(on->comm, &comm, &request);
	calls_wait("MPI_Comm_idup", &request, 0);
	comm_end("MPI_Comm_idup", comm);
}

static void splits(const struct calls *on)
{
	MPI_Comm comm, part;

	/* The new ranks count backwards: they are not those of the world. */
	COUNT(MPI_Comm_split, 0);
	MPI_Comm_split(on->comm, on->rank % 2, -on->rank, &comm);
	COUNT(MPI_Comm_split, 0);
	MPI_Comm_split(comm, 0, 0, &part);
	comm_end("MPI_Comm_split", part);
	comm_end("MPI_Comm_split", comm);
	COUNT(MPI_Comm_split, 0);
	MPI_Comm_split(on->comm, on->rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
	calls_must((comm == MPI_COMM_NULL) == (on->rank == 0), "MPI_Comm_split: who is in it");
	comm_end("MPI_Comm_split", comm);
	COUNT(MPI_Comm_split_type, 0);
	MPI_Comm_split_type(on->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	comm_end("MPI_Comm_split_type", comm);
}

/* The ranks with even numbers; all call Comm_create, only they call Comm_create_group. */
static void creates(const struct calls *on)
{
	int even[1][3] = {{0, (on->size - 1) / 2 * 2, 2}};
	MPI_Group all, some;
	MPI_Comm comm;

	MPI_Comm_group(on->comm, &all);
	MPI_Group_range_incl(all, 1, even, &some);
	COUNT(MPI_Comm_create, 0);
	MPI_Comm_create(on->comm, some, &comm);
	calls_must((comm == MPI_COMM_NULL) == on->rank % 2, "MPI_Comm_create: who is in it");
	comm_end("MPI_Comm_create", comm);
	if (on->rank % 2 == 0) {
		COUNT(MPI_Comm_create_group, 0);
		MPI_Comm_create_group(on->comm, some, TAG, &comm);
		comm_end("MPI_Comm_create_group", comm);
	}
	/* What all make after it must be the same communicator for all. */
	COUNT(MPI_Comm_dup, 0);
	MPI_Comm_dup(on->comm, &comm);
	comm_end("MPI_Comm_dup", comm);
	MPI_Group_free(&some);
	MPI_Group_free(&all);
}

static void topologies(const struct calls *on)
{
	int dims[2] = {on->size > 1 ? on->size / 2 : 1, on->size > 1 ? 2 : 1};
	int periods[2] = {0, 1}, keep[2] = {0, 1}, one = 1;
	MPI_Comm cart, row, graph;

	/* With an odd number of ranks the last one is left out. */
	COUNT(MPI_Cart_create, 0);
	MPI_Cart_create(on->comm, 2, dims, periods, 0, &cart);
	if (cart != MPI_COMM_NULL) {
		COUNT(MPI_Cart_sub, 0);
		MPI_Cart_sub(cart, keep, &row);
		comm_end("MPI_Cart_sub", row);
	}
	comm_end("MPI_Cart_create", cart);

	COUNT(MPI_Dist_graph_create_adjacent, 0);
	MPI_Dist_graph_create_adjacent(on->comm, 1, &on->left, &one, 1, &on->right, &one,
				       MPI_INFO_NULL, 0, &graph);
	comm_end("MPI_Dist_graph_create_adjacent", graph);
	COUNT(MPI_Dist_graph_create, 0);
	MPI_Dist_graph_create(on->comm, 1, &on->rank, &one, &on->right, &one, MPI_INFO_NULL, 0,
			      &graph);
	comm_end("MPI_Dist_graph_create", graph);
}

/* Everyone is the neighbour of everyone. */
static void graphs(const struct calls *on)
{
	int *index = calloc((size_t)(on->size + on->size * on->size), sizeof(int));
	int *edges = index ? index + on->size : NULL, n = 0;
	MPI_Comm graph;

	calls_must(index != NULL, "no memory");
	for (int from = 0; from < on->size; from++) {
		for (int to = 0; to < on->size; to++) {
			if (to != from)
				edges[n++] = to;
		}
		index[from] = n;
	}
	COUNT(MPI_Graph_create, 0);
	MPI_Graph_create(on->comm, on->size, index, edges, 0, &graph);
	comm_end("MPI_Graph_create", graph);
	free(index);
}

void calls_comm(const struct calls *on)
{
	comm_use("MPI_COMM_SELF", MPI_COMM_SELF);
	dups(on);
	splits(on);
	creates(on);
	topologies(on);
	graphs(on);
}
