/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives: each of them, in place where it can be, several under way at once. */
#include <stdlib.h>

#include "tests/conformance/suite.h"

enum { RANKS = 8, N = 2, ALL = RANKS * N };

static void finish(const char *name, MPI_Request *request, const int *buf, int n)
{
	MPI_Status status;

	suite_mark(&status, 1);
	suite_rc(name, MPI_Wait(request, &status));
	suite_requests(name, request, 1);
	suite_say("%s: error field %d", name, status.MPI_ERROR);
	suite_ints(name, buf, n);
}

static void moving(const struct suite *s, int root)
{
	const bool here = s->rank == root;
	int own[N], all[ALL] = {0}, out[ALL];
	MPI_Request r;

	suite_fill(own, N, s->rank, root);
	suite_fill(out, ALL, s->rank, root);
	SUITE(MPI_Ibcast(own, N, MPI_INT, root, s->comm, &r));
	finish("MPI_Ibcast", &r, own, N);
	suite_fill(own, N, s->rank, root);
	SUITE(MPI_Igather(own, N, MPI_INT, here ? all : NULL, N, MPI_INT, root, s->comm, &r));
	finish("MPI_Igather", &r, all, N * s->size);
	SUITE(MPI_Igather(here ? MPI_IN_PLACE : own, N, MPI_INT, all, N, MPI_INT, root, s->comm,
			  &r));
	finish("MPI_Igather in place", &r, all, N * s->size);
	SUITE(MPI_Iscatter(here ? out : NULL, N, MPI_INT, own, N, MPI_INT, root, s->comm, &r));
	finish("MPI_Iscatter", &r, own, N);
	SUITE(MPI_Iscatter(out, N, MPI_INT, here ? MPI_IN_PLACE : own, N, MPI_INT, root, s->comm,
			   &r));
	finish("MPI_Iscatter in place", &r, own, N);
	SUITE(MPI_Iallgather(own, N, MPI_INT, all, N, MPI_INT, s->comm, &r));
	finish("MPI_Iallgather", &r, all, N * s->size);
	SUITE(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, N, MPI_INT, s->comm, &r));
	finish("MPI_Iallgather in place", &r, all, N * s->size);
	SUITE(MPI_Ialltoall(out, N, MPI_INT, all, N, MPI_INT, s->comm, &r));
	finish("MPI_Ialltoall", &r, all, N * s->size);
	SUITE(MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, N, MPI_INT, s->comm, &r));
	finish("MPI_Ialltoall in place", &r, all, N * s->size);
}

static void computing(const struct suite *s, int root)
{
	const bool here = s->rank == root;
	int own[ALL], sum[ALL] = {0}, counts[RANKS];
	MPI_Request r;

	for (int i = 0; i < s->size; i++)
		counts[i] = i % (N + 1);
	suite_fill(own, ALL, s->rank, root);
	SUITE(MPI_Ireduce(own, here ? sum : NULL, N, MPI_INT, MPI_SUM, root, s->comm, &r));
	finish("MPI_Ireduce", &r, sum, N);
	SUITE(MPI_Ireduce(here ? MPI_IN_PLACE : own, here ? sum : NULL, N, MPI_INT, MPI_MAX, root,
			  s->comm, &r));
	finish("MPI_Ireduce in place", &r, sum, N);
	SUITE(MPI_Iallreduce(own, sum, N, MPI_INT, MPI_SUM, s->comm, &r));
	finish("MPI_Iallreduce", &r, sum, N);
	SUITE(MPI_Iallreduce(MPI_IN_PLACE, sum, N, MPI_INT, MPI_SUM, s->comm, &r));
	finish("MPI_Iallreduce in place", &r, sum, N);
	SUITE(MPI_Ireduce_scatter(own, sum, counts, MPI_INT, MPI_SUM, s->comm, &r));
	finish("MPI_Ireduce_scatter", &r, sum, N);
	SUITE(MPI_Ireduce_scatter_block(own, sum, N, MPI_INT, MPI_SUM, s->comm, &r));
	finish("MPI_Ireduce_scatter_block", &r, sum, N);
	SUITE(MPI_Iscan(own, sum, N, MPI_INT, MPI_SUM, s->comm, &r));
	finish("MPI_Iscan", &r, sum, N);
	SUITE(MPI_Iexscan(own, sum, N, MPI_INT, MPI_SUM, s->comm, &r));
	finish("MPI_Iexscan", &r, sum, N);
}

static void shared_out(const struct suite *s, int root)
{
	const bool here = s->rank == root;
	int counts[RANKS], places[RANKS], bytes[RANKS], own[N + 1], out[ALL], all[ALL] = {0};
	MPI_Datatype types[RANKS];
	MPI_Request r;

	for (int i = 0; i < s->size; i++) {
		counts[i] = (i + s->rank) % (N + 1);
		places[i] = i * N;
		bytes[i] = places[i] * (int)sizeof(int);
		types[i] = MPI_INT;
	}
	suite_fill(out, ALL, s->rank, root);
	SUITE(MPI_Ialltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, s->comm,
			     &r));
	finish("MPI_Ialltoallv", &r, all, N * s->size);
	SUITE(MPI_Ialltoallw(out, counts, bytes, types, all, counts, bytes, types, s->comm, &r));
	finish("MPI_Ialltoallw", &r, all, N * s->size);
	for (int i = 0; i < s->size; i++)
		counts[i] = i % (N + 1);
	suite_fill(own, N + 1, s->rank, root);
	SUITE(MPI_Igatherv(own, counts[s->rank], MPI_INT, all, here ? counts : NULL,
			   here ? places : NULL, MPI_INT, root, s->comm, &r));
	finish("MPI_Igatherv", &r, all, N * s->size);
	SUITE(MPI_Iscatterv(out, here ? counts : NULL, here ? places : NULL, MPI_INT, own,
			    counts[s->rank], MPI_INT, root, s->comm, &r));
	finish("MPI_Iscatterv", &r, own, N);
	SUITE(MPI_Iallgatherv(own, counts[s->rank], MPI_INT, all, counts, places, MPI_INT, s->comm,
			      &r));
	finish("MPI_Iallgatherv", &r, all, N * s->size);
	SUITE(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INT,
			      s->comm, &r));
	finish("MPI_Iallgatherv in place", &r, all, N * s->size);
}

static void several(const struct suite *s)
{
	int a[N], b[N], sum[N] = {0}, flag = 0;
	MPI_Request r[3];

	suite_fill(a, N, s->rank, 1);
	suite_fill(b, N, s->rank, 2);
	SUITE(MPI_Ibarrier(s->comm, &r[0]));
	SUITE(MPI_Ibcast(a, N, MPI_INT, 0, s->comm, &r[1]));
	SUITE(MPI_Iallreduce(b, sum, N, MPI_INT, MPI_SUM, s->comm, &r[2]));
	while (!flag)
		MPI_Testall(3, r, &flag, MPI_STATUSES_IGNORE);
	suite_requests("several", r, 3);
	suite_ints("several", a, N);
	suite_ints("several", sum, N);
	SUITE(MPI_Ibarrier(s->comm, &r[0]));
	SUITE(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
}

void suite_nonblocking(const struct suite *s)
{
	if (s->size > RANKS) {
		suite_say("too many ranks");
		return;
	}
	for (int root = 0; root < s->size; root++) {
		moving(s, root);
		computing(s, root);
		shared_out(s, root);
	}
	several(s);
}
