/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives whose ranks all give equally much, blocking and not, with and without MPI_IN_PLACE.
 */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { N = 24 };

static int *ints_new(int n)
{
	int *ints = calloc((size_t)n + 1, sizeof(int));

	calls_must(ints != NULL, "no memory");
	return ints;
}

static void barrier_and_bcast(const struct calls *on, int nb)
{
	int buf[N];

	COLL(nb, MPI_Barrier, MPI_Ibarrier, 0, on->comm);
	for (int root = 0; root<on->size; root += on->size> 1 ? on->size - 1 : 1) {
		calls_fill(buf, N, on->rank, 1);
		COLL(nb, MPI_Bcast, MPI_Ibcast, INTS(N), buf, N, MPI_INT, root, on->comm);
		calls_check("MPI_Bcast", buf, N, root, 1);
	}
	COLL(nb, MPI_Bcast, MPI_Ibcast, 0, buf, 0, MPI_INT, 0, on->comm);
}

static void gather(const struct calls *on, int nb, int root, int in_place)
{
	int *all = ints_new(N * on->size), mine[N];

	calls_fill(mine, N, on->rank, 2);
	calls_fill(all + N * on->rank, N, on->rank, 2);
	COLL(nb, MPI_Gather, MPI_Igather, INTS(N),
	     in_place && on->rank == root ? MPI_IN_PLACE : mine, N, MPI_INT, all, N, MPI_INT, root,
	     on->comm);
	for (int r = 0; on->rank == root && r < on->size; r++)
		calls_check("MPI_Gather", all + N * r, N, r, 2);
	free(all);
}

static void scatter(const struct calls *on, int nb, int root, int in_place)
{
	int *all = ints_new(N * on->size), mine[N] = {0};

	for (int r = 0; r < on->size; r++)
		calls_fill(all + N * r, N, r, 3 + on->rank);
	COLL(nb, MPI_Scatter, MPI_Iscatter, INTS(N), all, N, MPI_INT,
	     in_place && on->rank == root ? MPI_IN_PLACE : mine, N, MPI_INT, root, on->comm);
	if (!in_place || on->rank != root)
		calls_check("MPI_Scatter", mine, N, on->rank, 3 + root);
	free(all);
}

static void allgather(const struct calls *on, int nb, int in_place)
{
	int *all = ints_new(N * on->size), mine[N];

	calls_fill(mine, N, on->rank, 4);
	calls_fill(all + N * on->rank, N, on->rank, 4);
	COLL(nb, MPI_Allgather, MPI_Iallgather, INTS(N), in_place ? MPI_IN_PLACE : mine, N, MPI_INT,
	     all, N, MPI_INT, on->comm);
	for (int r = 0; r < on->size; r++)
		calls_check("MPI_Allgather", all + N * r, N, r, 4);
	free(all);
}

static void alltoall(const struct calls *on, int nb, int in_place)
{
	int *out = ints_new(N * on->size), *in = ints_new(N * on->size);

	for (int r = 0; r < on->size; r++) {
		calls_fill(out + N * r, N, on->rank, 5 + r);
		calls_fill(in + N * r, N, on->rank, 5 + r);
	}
	COLL(nb, MPI_Alltoall, MPI_Ialltoall, INTS(N * on->size), in_place ? MPI_IN_PLACE : out, N,
	     MPI_INT, in, N, MPI_INT, on->comm);
	for (int r = 0; r < on->size; r++)
		calls_check("MPI_Alltoall", in + N * r, N, r, 5 + on->rank);
	free(in);
	free(out);
}

/* --- reductions: each rank gives rank + i at place i --------------------------------------- */

static void fill_ramp(int *buf, int n, int rank)
{
	for (int i = 0; i < n; i++)
		buf[i] = rank + i;
}

/* The sum that ranks 0 … @ranks - 1 give at the places from @first. */
static void check_ramp(const char *op, const int *buf, int n, int first, int ranks)
{
	for (int i = 0; i < n; i++) {
		int sum = ranks * (ranks - 1) / 2 + ranks * (first + i);

		calls_must(buf[i] == sum, "%s: number %d is %d, not %d", op, i, buf[i], sum);
	}
}

static void reduce(const struct calls *on, int nb, int root, int in_place)
{
	int mine[N], sum[N];

	fill_ramp(mine, N, on->rank);
	fill_ramp(sum, N, on->rank);
	COLL(nb, MPI_Reduce, MPI_Ireduce, INTS(N),
	     in_place && on->rank == root ? MPI_IN_PLACE : mine, sum, N, MPI_INT, MPI_SUM, root,
	     on->comm);
	if (on->rank == root)
		check_ramp("MPI_Reduce", sum, N, 0, on->size);
}

static void allreduce(const struct calls *on, int nb, int in_place)
{
	int mine[N], sum[N];

	fill_ramp(mine, N, on->rank);
	fill_ramp(sum, N, on->rank);
	COLL(nb, MPI_Allreduce, MPI_Iallreduce, INTS(N), in_place ? MPI_IN_PLACE : mine, sum, N,
	     MPI_INT, MPI_SUM, on->comm);
	check_ramp("MPI_Allreduce", sum, N, 0, on->size);
}

static void scan(const struct calls *on, int nb, int in_place)
{
	int mine[N], sum[N];

	fill_ramp(mine, N, on->rank);
	fill_ramp(sum, N, on->rank);
	COLL(nb, MPI_Scan, MPI_Iscan, INTS(N), in_place ? MPI_IN_PLACE : mine, sum, N, MPI_INT,
	     MPI_SUM, on->comm);
	check_ramp("MPI_Scan", sum, N, 0, on->rank + 1);
	fill_ramp(sum, N, on->rank);
	COLL(nb, MPI_Exscan, MPI_Iexscan, INTS(N), in_place ? MPI_IN_PLACE : mine, sum, N, MPI_INT,
	     MPI_SUM, on->comm);
	if (on->rank > 0)
		check_ramp("MPI_Exscan", sum, N, 0, on->rank);
}

static void reduce_scatter_block(const struct calls *on, int nb, int in_place)
{
	int *mine = ints_new(N * on->size), *sum = ints_new(N * on->size);

	fill_ramp(mine, N * on->size, on->rank);
	fill_ramp(sum, N * on->size, on->rank);
	COLL(nb, MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, INTS(N * on->size),
	     in_place ? MPI_IN_PLACE : mine, sum, N, MPI_INT, MPI_SUM, on->comm);
	check_ramp("MPI_Reduce_scatter_block", sum, N, N * on->rank, on->size);
	free(sum);
	free(mine);
}

/* Several collectives under way, completed together and in the wrong order. */
static void several_at_once(const struct calls *on)
{
	int buf[N], mine[N], sum[N], done = 0;
	MPI_Request r[3];

	calls_fill(buf, N, on->rank, 6);
	fill_ramp(mine, N, on->rank);
	COUNT(MPI_Ibcast, INTS(N));
	MPI_Ibcast(buf, N, MPI_INT, 0, on->comm, &r[0]);
	COUNT(MPI_Iallreduce, INTS(N));
	MPI_Iallreduce(mine, sum, N, MPI_INT, MPI_SUM, on->comm, &r[1]);
	COUNT(MPI_Ibarrier, 0);
	MPI_Ibarrier(on->comm, &r[2]);
	for (MPI_Test(&r[2], &done, MPI_STATUS_IGNORE); !done;
	     MPI_Test(&r[2], &done, MPI_STATUS_IGNORE))
		COUNT_POLL(MPI_Test);
	COUNT(MPI_Test, 0);
	COUNT(MPI_Waitall, 0);
	MPI_Waitall(3, r, MPI_STATUSES_IGNORE); /* the barrier's is MPI_REQUEST_NULL by now */
	counts_done("MPI_Ibarrier", 1, 0);
	counts_done("MPI_Ibcast", 1, INTS(N));
	counts_done("MPI_Iallreduce", 1, INTS(N));
	calls_check("MPI_Ibcast", buf, N, 0, 6);
	check_ramp("MPI_Iallreduce", sum, N, 0, on->size);
}

void calls_collective(const struct calls *on, int nonblocking)
{
	barrier_and_bcast(on, nonblocking);
	for (int in_place = 0; in_place < 2; in_place++) {
		gather(on, nonblocking, 0, in_place);
		gather(on, nonblocking, on->size - 1, in_place);
		scatter(on, nonblocking, 0, in_place);
		scatter(on, nonblocking, on->size - 1, in_place);
		allgather(on, nonblocking, in_place);
		alltoall(on, nonblocking, in_place);
		reduce(on, nonblocking, 0, in_place);
		reduce(on, nonblocking, on->size - 1, in_place);
		allreduce(on, nonblocking, in_place);
		scan(on, nonblocking, in_place);
		reduce_scatter_block(on, nonblocking, in_place);
	}
	if (nonblocking)
		several_at_once(on);
}
