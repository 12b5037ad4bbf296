/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives across an intercommunicator that have a root, or a count for each rank. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 5 };

/* As one rank sees both sides. */
struct across {
	MPI_Comm comm;
	int rank, mine, theirs, high, nb;
	int *out, *in;	      /* N for each rank of the larger side */
	int *counts, *starts; /* N of each */
	MPI_Datatype *types;
	int root; /* of what the lower side's first rank gets or gives */
};

static void *room(const struct across *a, size_t each)
{
	int most = a->mine > a->theirs ? a->mine : a->theirs;
	void *memory = calloc((size_t)most, each);

	calls_must(memory != NULL, "no memory");
	return memory;
}

static void begin(struct across *a, MPI_Comm comm, int high, int nb)
{
	a->comm = comm;
	a->high = high;
	a->nb = nb;
	MPI_Comm_rank(comm, &a->rank);
	MPI_Comm_size(comm, &a->mine);
	MPI_Comm_remote_size(comm, &a->theirs);
	a->out = room(a, INTS(N));
	a->in = room(a, INTS(N));
	a->counts = room(a, sizeof(int));
	a->starts = room(a, sizeof(int));
	a->types = room(a, sizeof(MPI_Datatype));
	for (int i = 0; i < (a->mine > a->theirs ? a->mine : a->theirs); i++) {
		a->counts[i] = N;
		a->starts[i] = i * N;
		a->types[i] = MPI_INT;
	}
	a->root = high ? 0 : a->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

static void end(struct across *a)
{
	free(a->out);
	free(a->in);
	free(a->counts);
	free(a->starts);
	free(a->types);
}

/* The higher side gives to the first of the lower, or gets from it. */
static void rooted(const struct across *a)
{
	const uint64_t bytes = INTS(a->high ? N : 0);
	const int is_root = a->root == MPI_ROOT;

	calls_fill(a->out, N, a->rank, a->high);
	COLL(a->nb, MPI_Gather, MPI_Igather, bytes, a->out, N, MPI_INT, a->in, N, MPI_INT, a->root,
	     a->comm);
	for (int r = 0; is_root && r < a->theirs; r++)
		calls_check("MPI_Gather", a->in + N * r, N, r, 1);
	COLL(a->nb, MPI_Gatherv, MPI_Igatherv, bytes, a->out, N, MPI_INT, a->in, a->counts,
	     a->starts, MPI_INT, a->root, a->comm);
	for (int r = 0; is_root && r < a->theirs; r++)
		calls_fill(a->out + N * r, N, r, 2);
	COLL(a->nb, MPI_Scatter, MPI_Iscatter, bytes, a->out, N, MPI_INT, a->in, N, MPI_INT,
	     a->root, a->comm);
	if (a->high)
		calls_check("MPI_Scatter", a->in, N, a->rank, 2);
	COLL(a->nb, MPI_Scatterv, MPI_Iscatterv, bytes, a->out, a->counts, a->starts, MPI_INT,
	     a->in, N, MPI_INT, a->root, a->comm);
	COLL(a->nb, MPI_Reduce, MPI_Ireduce, bytes, a->out, a->in, N, MPI_INT, MPI_MAX, a->root,
	     a->comm);
}

static void vectors(const struct across *a)
{
	const uint64_t all = INTS(N * a->theirs);

	calls_fill(a->out, N, a->rank, a->high);
	COLL(a->nb, MPI_Allgatherv, MPI_Iallgatherv, INTS(N), a->out, N, MPI_INT, a->in, a->counts,
	     a->starts, MPI_INT, a->comm);
	for (int r = 0; r < a->theirs; r++)
		calls_check("MPI_Allgatherv", a->in + N * r, N, r, !a->high);
	COLL(a->nb, MPI_Alltoallv, MPI_Ialltoallv, all, a->out, a->counts, a->starts, MPI_INT,
	     a->in, a->counts, a->starts, MPI_INT, a->comm);
	for (int r = 0; r < a->mine || r < a->theirs; r++)
		a->starts[r] *= (int)sizeof(int);
	COLL(a->nb, MPI_Alltoallw, MPI_Ialltoallw, all, a->out, a->counts, a->starts, a->types,
	     a->in, a->counts, a->starts, a->types, a->comm);
}

/* Both sides must give as much as the other one gets: they do only if they have as many ranks. */
static void scattered(const struct across *a)
{
	if (a->mine != a->theirs)
		return;
	COLL(a->nb, MPI_Reduce_scatter, MPI_Ireduce_scatter, INTS(N * a->mine), a->out, a->in,
	     a->counts, MPI_INT, MPI_MAX, a->comm);
	COLL(a->nb, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, INTS(N * a->mine), a->out,
	     a->in, N, MPI_INT, MPI_MAX, a->comm);
}

void calls_across(MPI_Comm comm, int high)
{
	for (int nb = 0; nb < 2; nb++) {
		struct across a;

		begin(&a, comm, high, nb);
		rooted(&a);
		vectors(&a);
		scattered(&a);
		end(&a);
	}
}
