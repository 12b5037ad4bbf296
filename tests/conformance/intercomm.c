/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: messages and collectives between two groups, MPI_ROOT, merging. */
#include "tests/conformance/suite.h"

enum { N = 2, RANKS = 8, TAG = 400 };

/* Even ranks and odd ones; @s becomes this process's place in its own group. */
struct sides {
	MPI_Comm local, inter;
	int rank, size, others;
	bool even;
};

static void sides_make(struct sides *si, const struct suite *s)
{
	si->even = s->rank % 2 == 0;
	SUITE(MPI_Comm_split(s->comm, si->even, s->rank, &si->local));
	SUITE(MPI_Intercomm_create(si->local, 0, s->comm, si->even ? 1 : 0, TAG, &si->inter));
	MPI_Comm_rank(si->inter, &si->rank);
	MPI_Comm_size(si->inter, &si->size);
	MPI_Comm_remote_size(si->inter, &si->others);
	suite_say("side %d: rank %d of %d, others %d", si->even, si->rank, si->size, si->others);
}

/* The first of each side talk to each other; ranks are those of the other side. */
static void messages(const struct suite *s, const struct sides *si)
{
	int out[N], in[N] = {0};
	MPI_Request r;
	MPI_Status status;

	if (si->rank != 0)
		return;
	suite_fill(out, N, s->rank, 1);
	suite_mark(&status, 1);
	SUITE(MPI_Sendrecv(out, N, MPI_INT, 0, TAG, in, N, MPI_INT, MPI_ANY_SOURCE, TAG, si->inter,
			   &status));
	suite_status("between", &status, MPI_INT);
	suite_ints("between", in, N);
	SUITE(MPI_Irecv(in, N, MPI_INT, 0, TAG + 1, si->inter, &r));
	SUITE(MPI_Send(out, 1, MPI_INT, 0, TAG + 1, si->inter));
	suite_mark(&status, 1);
	SUITE(MPI_Wait(&r, &status));
	suite_status("between", &status, MPI_INT);
}

static void rooted(const struct suite *s, const struct sides *si)
{
	int own[N * RANKS], all[N * RANKS] = {0};
	int root = si->even ? (si->rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;

	suite_fill(own, N * RANKS, s->rank, 2);
	SUITE(MPI_Bcast(own, N, MPI_INT, root, si->inter));
	suite_ints("MPI_Bcast between", own, N);
	SUITE(MPI_Gather(own, N, MPI_INT, all, N, MPI_INT, root, si->inter));
	suite_ints("MPI_Gather between", all, N * RANKS);
	SUITE(MPI_Scatter(own, N, MPI_INT, all, N, MPI_INT, root, si->inter));
	suite_ints("MPI_Scatter between", all, N);
	SUITE(MPI_Reduce(own, all, N, MPI_INT, MPI_SUM, root, si->inter));
	suite_ints("MPI_Reduce between", all, N);
}

static void for_all(const struct suite *s, const struct sides *si)
{
	int own[N * RANKS], all[N * RANKS] = {0}, counts[RANKS], to[RANKS], places[RANKS];
	MPI_Request r;

	for (int i = 0; i < RANKS; i++) {
		counts[i] = i % 2 + 1;
		to[i] = si->rank % 2 + 1;
		places[i] = i * N;
	}
	suite_fill(own, N * RANKS, s->rank, 3);
	SUITE(MPI_Barrier(si->inter));
	SUITE(MPI_Allgather(own, N, MPI_INT, all, N, MPI_INT, si->inter));
	suite_ints("MPI_Allgather between", all, N * RANKS);
	SUITE(MPI_Allreduce(own, all, N, MPI_INT, MPI_SUM, si->inter));
	suite_ints("MPI_Allreduce between", all, N);
	SUITE(MPI_Alltoall(own, N, MPI_INT, all, N, MPI_INT, si->inter));
	suite_ints("MPI_Alltoall between", all, N * RANKS);
	SUITE(MPI_Allgatherv(own, si->rank % 2 + 1, MPI_INT, all, counts, places, MPI_INT,
			     si->inter));
	suite_ints("MPI_Allgatherv between", all, N * RANKS);
	SUITE(MPI_Alltoallv(own, counts, places, MPI_INT, all, to, places, MPI_INT, si->inter));
	suite_ints("MPI_Alltoallv between", all, N * RANKS);
	SUITE(MPI_Ibarrier(si->inter, &r));
	SUITE(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void merged(const struct suite *s, const struct sides *si)
{
	MPI_Comm one, again;
	int rank = -1, own = s->rank, all[RANKS] = {0};

	SUITE(MPI_Intercomm_merge(si->inter, si->even, &one));
	MPI_Comm_rank(one, &rank);
	SUITE(MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, one));
	suite_say("merged: rank %d", rank);
	suite_ints("merged", all, s->size);
	SUITE(MPI_Comm_free(&one));
	SUITE(MPI_Comm_dup(si->inter, &again));
	SUITE(MPI_Barrier(again));
	SUITE(MPI_Comm_free(&again));
	SUITE(MPI_Comm_split(si->inter, si->rank == 0 ? 1 : MPI_UNDEFINED, 0, &again));
	if (again != MPI_COMM_NULL)
		SUITE(MPI_Comm_free(&again));
}

void suite_intercomm(const struct suite *s)
{
	struct sides si;

	if (s->size < 2 || s->size > RANKS) {
		suite_say("too few ranks, or too many");
		return;
	}
	sides_make(&si, s);
	messages(s, &si);
	rooted(s, &si);
	for_all(s, &si);
	merged(s, &si);
	SUITE(MPI_Comm_free(&si.inter));
	SUITE(MPI_Comm_free(&si.local));
}
