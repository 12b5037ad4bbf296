/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that compute: predefined operations and one of the program's own, in place, empty. */
#include <stdlib.h>

#include "tests/conformance/suite.h"

enum { N = 4 };

/* Of the program's own; it calls MPI itself, from within the collective. */
static void add_size(void *in, void *inout, int *n, MPI_Datatype *type)
{
	const int *from = in;
	int *to = inout, size = 0;

	MPI_Type_size(*type, &size);
	for (int i = 0; i < *n; i++)
		to[i] += from[i] + size;
}

static void to_root(const struct suite *s, MPI_Op op, int root)
{
	const bool here = s->rank == root;
	int own[N], sum[N] = {0};

	suite_fill(own, N, s->rank, 1);
	SUITE(MPI_Reduce(own, here ? sum : NULL, N, MPI_INT, op, root, s->comm));
	suite_ints("MPI_Reduce", sum, N);
	suite_fill(sum, N, s->rank, 2);
	SUITE(MPI_Reduce(here ? MPI_IN_PLACE : sum, here ? sum : NULL, N, MPI_INT, op, root,
			 s->comm));
	suite_ints("MPI_Reduce in place", sum, N);
}

static void for_all(const struct suite *s, MPI_Op op)
{
	int own[N], sum[N] = {0};

	suite_fill(own, N, s->rank, 3);
	SUITE(MPI_Allreduce(own, sum, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Allreduce", sum, N);
	SUITE(MPI_Allreduce(MPI_IN_PLACE, own, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Allreduce in place", own, N);
	suite_fill(own, N, s->rank, 4);
	SUITE(MPI_Scan(own, sum, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Scan", sum, N);
	SUITE(MPI_Scan(MPI_IN_PLACE, own, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Scan in place", own, N);
	suite_fill(own, N, s->rank, 5);
	suite_fill(sum, N, s->rank, 6);
	SUITE(MPI_Exscan(own, sum, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Exscan", sum, N);
	SUITE(MPI_Exscan(MPI_IN_PLACE, own, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Exscan in place", own, N);
}

static void scattered(const struct suite *s, MPI_Op op)
{
	int *counts = malloc((size_t)s->size * sizeof(*counts)), total = 0;
	int *all, sum[N] = {0};

	for (int i = 0; i < s->size; i++)
		total += counts[i] = i % N;
	all = malloc((size_t)(N * s->size) * sizeof(*all));
	suite_fill(all, N * s->size, s->rank, 7);
	SUITE(MPI_Reduce_scatter(all, sum, counts, MPI_INT, op, s->comm));
	suite_ints("MPI_Reduce_scatter", sum, N);
	SUITE(MPI_Reduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, op, s->comm));
	suite_ints("MPI_Reduce_scatter in place", all, counts[s->rank]);
	suite_fill(all, N * s->size, s->rank, 8);
	SUITE(MPI_Reduce_scatter_block(all, sum, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Reduce_scatter_block", sum, N);
	SUITE(MPI_Reduce_scatter_block(MPI_IN_PLACE, all, N, MPI_INT, op, s->comm));
	suite_ints("MPI_Reduce_scatter_block in place", all, N);
	suite_say("elements: %d", total);
	free(all);
	free(counts);
}

static void pairs(const struct suite *s)
{
	struct {
		double value;
		int where;
	} own = {.value = (s->rank * 7) % 5, .where = s->rank}, best = {.value = -1, .where = -1};
	int in[2] = {s->rank, 1}, inout[2] = {2, 3};

	SUITE(MPI_Allreduce(&own, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, s->comm));
	suite_say("MPI_MAXLOC: %.1f at %d", best.value, best.where);
	SUITE(MPI_Reduce_local(in, inout, 2, MPI_INT, MPI_SUM));
	suite_ints("MPI_Reduce_local", inout, 2);
}

static void empty(const struct suite *s)
{
	int none = 5;

	SUITE(MPI_Reduce(&none, &none + 1, 0, MPI_INT, MPI_SUM, 0, s->comm));
	SUITE(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, s->comm));
	SUITE(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, s->comm));
	suite_ints("nothing", &none, 1);
}

void suite_reductions(const struct suite *s)
{
	MPI_Op own;

	SUITE(MPI_Op_create(add_size, 1, &own));
	for (int root = 0; root < s->size; root++) {
		to_root(s, MPI_SUM, root);
		to_root(s, own, root);
	}
	for_all(s, MPI_MAX);
	for_all(s, own);
	scattered(s, MPI_SUM);
	scattered(s, own);
	pairs(s);
	empty(s);
	SUITE(MPI_Op_free(&own));
}
