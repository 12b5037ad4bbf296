/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: made from the two halves of the ranks, used, duplicated, merged. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 12, TAG = 90 };

/* Both sides of an intercommunicator as one rank sees them; peers are ranks of the other side. */
struct sides {
	MPI_Comm comm;
	int rank, mine, theirs;
	int high; /* we are in the half with the higher ranks */
};

static void sides_of(struct sides *s, MPI_Comm comm, int high)
{
	s->comm = comm;
	s->high = high;
	MPI_Comm_rank(comm, &s->rank);
	MPI_Comm_size(comm, &s->mine);
	MPI_Comm_remote_size(comm, &s->theirs);
}

/* Numbers of the two sides differ: a message that comes from the own side is seen. */
static int what_of(int high)
{
	return 3 + high;
}

/* The first of each side send to each other. */
static void messages(const struct sides *s)
{
	int out[N], in[N];
	MPI_Request receive;
	MPI_Status status;

	if (s->rank > 0)
		return;
	calls_fill(out, N, s->rank, what_of(s->high));
	COUNT(MPI_Irecv, INTS(N));
	MPI_Irecv(in, N, MPI_INT, 0, TAG, s->comm, &receive);
	COUNT(MPI_Send, INTS(N));
	MPI_Send(out, N, MPI_INT, 0, TAG, s->comm);
	COUNT(MPI_Wait, 0);
	MPI_Wait(&receive, &status);
	counts_done("MPI_Irecv", 1, INTS(N));
	calls_must(status.MPI_SOURCE == 0, "MPI_Irecv from the other side: source %d",
		   status.MPI_SOURCE);
	calls_check("MPI_Irecv from the other side", in, N, 0, what_of(!s->high));
}

/* The first of the lower half gives, all of the higher half get, the others of the lower do
 * nothing. */
static void bcast(const struct sides *s, int nb)
{
	int buf[N], root = s->high ? 0 : s->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
	const int n = root == MPI_PROC_NULL ? 0 : N;

	calls_fill(buf, N, s->rank, what_of(s->high));
	COLL(nb, MPI_Bcast, MPI_Ibcast, INTS(n), buf, N, MPI_INT, root, s->comm);
	if (s->high)
		calls_check("MPI_Bcast from the other side", buf, N, 0, what_of(0));
}

static void collectives(const struct sides *s, int nb)
{
	int most = s->mine > s->theirs ? s->mine : s->theirs, sum = -1;
	int *out = calloc((size_t)(2 * most), N * sizeof(int)), *in = out ? out + most * N : NULL;

	calls_must(out != NULL, "no memory");
	COLL(nb, MPI_Barrier, MPI_Ibarrier, 0, s->comm);
	bcast(s, nb);
	calls_fill(out, N, s->rank, what_of(s->high));
	COLL(nb, MPI_Allgather, MPI_Iallgather, INTS(N), out, N, MPI_INT, in, N, MPI_INT, s->comm);
	for (int r = 0; r < s->theirs; r++)
		calls_check("MPI_Allgather", in + N * r, N, r, what_of(!s->high));
	for (int r = 0; r < s->theirs; r++)
		calls_fill(out + N * r, N, s->rank, what_of(s->high) + r);
	COLL(nb, MPI_Alltoall, MPI_Ialltoall, INTS(N * s->theirs), out, N, MPI_INT, in, N, MPI_INT,
	     s->comm);
	for (int r = 0; r < s->theirs; r++)
		calls_check("MPI_Alltoall", in + N * r, N, r, what_of(!s->high) + s->rank);
	out[0] = 1;
	COLL(nb, MPI_Allreduce, MPI_Iallreduce, INTS(1), out, &sum, 1, MPI_INT, MPI_SUM, s->comm);
	calls_must(sum == s->theirs, "MPI_Allreduce: %d of the other side's %d", sum, s->theirs);
	free(out);
}

static void use(MPI_Comm comm, int high)
{
	struct sides s;

	sides_of(&s, comm, high);
	messages(&s);
	collectives(&s, 0);
	collectives(&s, 1);
}

/* One communicator again; those of the higher half come first in it. */
static void merge(MPI_Comm comm, int high, int size)
{
	MPI_Comm all;
	struct calls on;
	int buf[N];

	COUNT(MPI_Intercomm_merge, 0);
	MPI_Intercomm_merge(comm, !high, &all);
	calls_on(&on, all);
	calls_must(on.size == size, "MPI_Intercomm_merge: %d of %d ranks", on.size, size);
	calls_fill(buf, N, high, 5);
	COUNT(MPI_Bcast, INTS(N));
	MPI_Bcast(buf, N, MPI_INT, 0, all);
	calls_check("MPI_Intercomm_merge", buf, N, 1, 5);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&all);
}

/* With one rank there is no other side. */
void calls_inter(const struct calls *on)
{
	const int first_high = (on->size + 1) / 2, high = on->rank >= first_high;
	MPI_Comm half, inter, dup;

	if (on->size < 2)
		return;
	COUNT(MPI_Comm_split, 0);
	MPI_Comm_split(on->comm, high, on->rank, &half);
	COUNT(MPI_Intercomm_create, 0);
	MPI_Intercomm_create(half, 0, on->comm, high ? 0 : first_high, TAG, &inter);
	use(inter, high);
	calls_across(inter, high);
	COUNT(MPI_Comm_dup, 0);
	MPI_Comm_dup(inter, &dup);
	use(dup, high);
	merge(dup, high, on->size);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&dup);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&inter);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&half);
}
