/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are spawned. */
#include <stdio.h>

#include "tests/conformance/suite.h"

enum { CHILDREN = 2, N = 3, TAG = 600 };

/* Both sides do the same: parents and children are each other's remote group. */
static void talk(MPI_Comm *with, int root)
{
	int rank, size, others, sum = -1, own, in[N] = {0}, out[N];
	MPI_Comm merged, inter = *with;
	MPI_Status status;

	/* MPICH over UCX cannot spawn */
	if (inter == MPI_COMM_NULL)
		return;
	MPI_Comm_rank(inter, &rank);
	MPI_Comm_size(inter, &size);
	MPI_Comm_remote_size(inter, &others);
	suite_say("rank %d of %d, others %d", rank, size, others);
	own = rank + 1;
	suite_fill(out, N, rank, 1);
	if (rank == 0) {
		suite_mark(&status, 1);
		SUITE(MPI_Sendrecv(out, N, MPI_INT, 0, TAG, in, N, MPI_INT, 0, TAG, inter,
				   &status));
		suite_status("across", &status, MPI_INT);
		suite_ints("across", in, N);
	}
	SUITE(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, inter));
	suite_say("the others' sum %d", sum);
	SUITE(MPI_Bcast(in, N, MPI_INT, root, inter));
	suite_ints("from the first parent", in, N);
	SUITE(MPI_Intercomm_merge(inter, root == 0, &merged));
	MPI_Comm_rank(merged, &rank);
	SUITE(MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, merged));
	suite_say("merged: rank %d, sum %d", rank, sum);
	SUITE(MPI_Comm_free(&merged));
	SUITE(MPI_Comm_disconnect(with));
	suite_say("disconnected: %d", *with == MPI_COMM_NULL);
}

void suite_child(MPI_Comm parent)
{
	talk(&parent, 0);
}

static int root_of(const struct suite *s)
{
	return s->rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

void suite_children(const struct suite *s)
{
	char folder[512], one[512], other[512];
	char *argv[] = {folder, NULL}, *first[] = {one, NULL}, *second[] = {other, NULL};
	char **argvs[] = {first, second};
	char *commands[] = {(char *)(void *)s->program, (char *)(void *)s->program};
	const int counts[] = {1, 1};
	const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
	int codes[CHILDREN] = {-1, -1};
	MPI_Comm inter = MPI_COMM_NULL;

	snprintf(folder, sizeof(folder), "%s/spawned", s->folder);
	snprintf(one, sizeof(one), "%s/multiple", s->folder);
	snprintf(other, sizeof(other), "%s/multiple", s->folder);
	SUITE(MPI_Comm_spawn(s->program, argv, CHILDREN, MPI_INFO_NULL, 0, s->comm, &inter, codes));
	if (s->rank == 0)
		suite_ints("codes", codes, CHILDREN);
	talk(&inter, root_of(s));
	snprintf(folder, sizeof(folder), "%s/ignored", s->folder);
	SUITE(MPI_Comm_spawn(s->program, argv, 1, MPI_INFO_NULL, 0, s->comm, &inter,
			     MPI_ERRCODES_IGNORE));
	talk(&inter, root_of(s));
	SUITE(MPI_Comm_spawn_multiple(2, commands, argvs, counts, infos, 0, s->comm, &inter,
				      MPI_ERRCODES_IGNORE));
	talk(&inter, root_of(s));
}
