/* SPDX-License-Identifier: BSD-3-Clause */
/* Both sides of an intercommunicator talk to each other, merge and part. */
#include "tests/apps/sides.h"

enum { N = 16 };

/* The first of one side gives, all of the other get. */
static void give(const struct calls *on, MPI_Comm inter, int gets)
{
	int buf[N], root = gets ? 0 : on->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;

	calls_fill(buf, N, on->rank, 1);
	COUNT(MPI_Bcast, root == MPI_PROC_NULL ? 0 : INTS(N));
	MPI_Bcast(buf, N, MPI_INT, root, inter);
	if (gets)
		calls_check("MPI_Bcast from the other side", buf, N, 0, 1);
}

/* The first of each side send to each other. */
static void messages(const struct calls *on, MPI_Comm inter)
{
	int out[N], in[N];

	if (on->rank > 0)
		return;
	calls_fill(out, N, 0, 2);
	COUNT(MPI_Sendrecv, INTS(N));
	counts_done("MPI_Sendrecv", 1, INTS(N));
	MPI_Sendrecv(out, N, MPI_INT, 0, 7, in, N, MPI_INT, 0, 7, inter, MPI_STATUS_IGNORE);
	calls_check("MPI_Sendrecv with the other side", in, N, 0, 2);
}

static void merge(MPI_Comm inter, int gets)
{
	int one = 1, sum = 0, size, theirs;
	MPI_Comm all;

	MPI_Comm_size(inter, &size);
	MPI_Comm_remote_size(inter, &theirs);
	COUNT(MPI_Intercomm_merge, 0);
	MPI_Intercomm_merge(inter, gets, &all);
	COUNT(MPI_Allreduce, INTS(1));
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
	calls_must(sum == size + theirs, "MPI_Intercomm_merge: %d", sum);
	COUNT(MPI_Comm_free, 0);
	MPI_Comm_free(&all);
}

void sides_use(const struct calls *on, MPI_Comm *inter, int gets)
{
	give(on, *inter, gets);
	messages(on, *inter);
	merge(*inter, gets);
	COUNT(MPI_Comm_disconnect, 0);
	MPI_Comm_disconnect(inter);
}
