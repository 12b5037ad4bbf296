/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that move data: from every root, in place, empty, with what only the root looks at.
 */
#include <stdlib.h>

#include "tests/conformance/suite.h"

enum { N = 3 };

static void from_root(const struct suite *s, int root)
{
	int own[N], *all = calloc((size_t)(N * s->size), sizeof(*all));
	const bool here = s->rank == root;

	suite_fill(own, N, s->rank, root);
	SUITE(MPI_Bcast(own, N, MPI_INT, root, s->comm));
	suite_ints("MPI_Bcast", own, N);
	suite_fill(own, N, s->rank, root);
	SUITE(MPI_Gather(own, N, MPI_INT, here ? all : NULL, here ? N : 0,
			 here ? MPI_INT : MPI_DATATYPE_NULL, root, s->comm));
	suite_ints("MPI_Gather", all, N * s->size);
	suite_fill(all, N * s->size, s->rank, 2);
	SUITE(MPI_Gather(here ? MPI_IN_PLACE : own, here ? 0 : N,
			 here ? MPI_DATATYPE_NULL : MPI_INT, all, N, MPI_INT, root, s->comm));
	suite_ints("MPI_Gather in place", all, N * s->size);
	suite_fill(all, N * s->size, s->rank, 3);
	SUITE(MPI_Scatter(here ? all : NULL, here ? N : -1, here ? MPI_INT : MPI_DATATYPE_NULL, own,
			  N, MPI_INT, root, s->comm));
	suite_ints("MPI_Scatter", own, N);
	SUITE(MPI_Scatter(all, N, MPI_INT, here ? MPI_IN_PLACE : own, N, MPI_INT, root, s->comm));
	suite_ints("MPI_Scatter in place", own, N);
	free(all);
}

static void to_all(const struct suite *s)
{
	int own[N], *out = malloc((size_t)(N * s->size) * sizeof(*out));
	int *all = calloc((size_t)(N * s->size), sizeof(*all));

	suite_fill(own, N, s->rank, 4);
	suite_fill(out, N * s->size, s->rank, 5);
	SUITE(MPI_Allgather(own, N, MPI_INT, all, N, MPI_INT, s->comm));
	suite_ints("MPI_Allgather", all, N * s->size);
	suite_fill(all, N * s->size, s->rank, 6);
	SUITE(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, N, MPI_INT, s->comm));
	suite_ints("MPI_Allgather in place", all, N * s->size);
	SUITE(MPI_Alltoall(out, N, MPI_INT, all, N, MPI_INT, s->comm));
	suite_ints("MPI_Alltoall", all, N * s->size);
	suite_fill(all, N * s->size, s->rank, 7);
	SUITE(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, N, MPI_INT, s->comm));
	suite_ints("MPI_Alltoall in place", all, N * s->size);
	free(out);
	free(all);
}

/* Counts of zero: nothing is looked at, but all take part. */
static void empty(const struct suite *s)
{
	SUITE(MPI_Bcast(NULL, 0, MPI_INT, 0, s->comm));
	SUITE(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, s->comm));
	SUITE(MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, s->comm));
	SUITE(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, s->comm));
	SUITE(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, s->comm));
}

/* On a communicator of one, where libraries take short cuts. */
static void alone(void)
{
	int one = 4711, other = 0;

	SUITE(MPI_Barrier(MPI_COMM_SELF));
	SUITE(MPI_Bcast(&one, 1, MPI_INT, 0, MPI_COMM_SELF));
	SUITE(MPI_Allgather(&one, 1, MPI_INT, &other, 1, MPI_INT, MPI_COMM_SELF));
	suite_ints("alone", &other, 1);
	SUITE(MPI_Alltoall(&one, 1, MPI_INT, &other, 1, MPI_INT, MPI_COMM_SELF));
	SUITE(MPI_Sendrecv(&one, 1, MPI_INT, 0, 1, &other, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
			   MPI_STATUS_IGNORE));
	suite_ints("alone", &other, 1);
}

void suite_collectives(const struct suite *s)
{
	SUITE(MPI_Barrier(s->comm));
	/* past wrappers of all kinds: the profiling name is nobody's but the library's */
	SUITE(PMPI_Barrier(s->comm));
	for (int root = 0; root < s->size; root++)
		from_root(s, root);
	to_all(s);
	empty(s);
	alone();
}
