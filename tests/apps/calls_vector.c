/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives in which each rank gives another amount: the v and w variants, and Reduce_scatter. */
#include <stdlib.h>

#include "tests/apps/calls.h"

enum { GAP = 2 }; /* numbers between the pieces, which nobody may touch */

/*
 * The amounts. Rank r gives or gets r + 1 numbers; in Alltoall rank a gives rank b a + 2b numbers,
 * so the first gives itself nothing.
 */
struct amounts {
	int n;				/* ranks */
	int *counts, *displs;		/* of r + 1 each */
	int *out_counts, *out_displs;	/* what we give to each in Alltoallv */
	int *in_counts, *in_displs;	/* what we get from each */
	int room, out_room, in_room;	/* of whole buffers */
	int given, out_given, in_given; /* numbers without the gaps */
	int *out, *in;			/* two buffers, with room for any of it */
};

static int pair_count(int from, int to)
{
	return from + 2 * to;
}

static int *table_take(int **memory, int n)
{
	int *table = *memory;

	*memory += n;
	return table;
}

/* Where each piece begins. Returns the room for all, and in *@given the numbers in them. */
static int displs_fill(int *displs, const int *counts, int n, int *given)
{
	int at = 0;

	*given = 0;
	for (int r = 0; r < n; r++) {
		displs[r] = at;
		at += counts[r] + GAP;
		*given += counts[r];
	}
	return at;
}

static void amounts_init(struct amounts *a, const struct calls *on)
{
	const int n = on->size, most = (3 * n + GAP) * n + 1;
	int *memory = calloc((size_t)(6 * n + 2 * most), sizeof(int));

	calls_must(memory != NULL, "no memory");
	a->n = n;
	a->counts = table_take(&memory, n);
	a->displs = table_take(&memory, n);
	a->out_counts = table_take(&memory, n);
	a->out_displs = table_take(&memory, n);
	a->in_counts = table_take(&memory, n);
	a->in_displs = table_take(&memory, n);
	a->out = table_take(&memory, most);
	a->in = table_take(&memory, most);
	for (int r = 0; r < n; r++) {
		a->counts[r] = r + 1;
		a->out_counts[r] = pair_count(on->rank, r);
		a->in_counts[r] = pair_count(r, on->rank);
	}
	a->room = displs_fill(a->displs, a->counts, n, &a->given);
	a->out_room = displs_fill(a->out_displs, a->out_counts, n, &a->out_given);
	a->in_room = displs_fill(a->in_displs, a->in_counts, n, &a->in_given);
}

static void amounts_fini(struct amounts *a)
{
	free(a->counts); /* all tables are one piece of memory */
}

static void clear(int *buf, int n)
{
	for (int i = 0; i < n; i++)
		buf[i] = -1;
}

/* The pieces are from all ranks, and the gaps are as they were. */
static void pieces_check(const char *op, const int *in, const int *counts, const int *displs, int n,
			 int what)
{
	for (int r = 0; r < n; r++) {
		calls_check(op, in + displs[r], counts[r], r, what);
		for (int i = 0; i < GAP; i++)
			calls_must(in[displs[r] + counts[r] + i] == -1, "%s: wrote into a gap", op);
	}
}

static void gatherv(const struct calls *on, struct amounts *a, int nb, int root, int in_place)
{
	const int mine = a->counts[on->rank];

	clear(a->in, a->room);
	calls_fill(a->out, mine, on->rank, 1);
	calls_fill(a->in + a->displs[on->rank], in_place ? mine : 0, on->rank, 1);
	COLL(nb, MPI_Gatherv, MPI_Igatherv, INTS(mine),
	     in_place && on->rank == root ? MPI_IN_PLACE : a->out, mine, MPI_INT, a->in, a->counts,
	     a->displs, MPI_INT, root, on->comm);
	if (on->rank == root)
		pieces_check("MPI_Gatherv", a->in, a->counts, a->displs, a->n, 1);
}

static void scatterv(const struct calls *on, struct amounts *a, int nb, int root, int in_place)
{
	const int mine = a->counts[on->rank];

	for (int r = 0; r < a->n; r++)
		calls_fill(a->out + a->displs[r], a->counts[r], r, 2);
	COLL(nb, MPI_Scatterv, MPI_Iscatterv, INTS(mine), a->out, a->counts, a->displs, MPI_INT,
	     in_place && on->rank == root ? MPI_IN_PLACE : a->in, mine, MPI_INT, root, on->comm);
	if (!in_place || on->rank != root)
		calls_check("MPI_Scatterv", a->in, mine, on->rank, 2);
}

static void allgatherv(const struct calls *on, struct amounts *a, int nb, int in_place)
{
	const int mine = a->counts[on->rank];

	clear(a->in, a->room);
	calls_fill(a->out, mine, on->rank, 3);
	calls_fill(a->in + a->displs[on->rank], in_place ? mine : 0, on->rank, 3);
	COLL(nb, MPI_Allgatherv, MPI_Iallgatherv, INTS(mine), in_place ? MPI_IN_PLACE : a->out,
	     mine, MPI_INT, a->in, a->counts, a->displs, MPI_INT, on->comm);
	pieces_check("MPI_Allgatherv", a->in, a->counts, a->displs, a->n, 3);
}

static void pieces_fill(const struct calls *on, struct amounts *a, int what)
{
	clear(a->in, a->in_room);
	for (int r = 0; r < a->n; r++)
		calls_fill(a->out + a->out_displs[r], a->out_counts[r], on->rank, what);
}

static void alltoallv(const struct calls *on, struct amounts *a, int nb)
{
	pieces_fill(on, a, 4);
	COLL(nb, MPI_Alltoallv, MPI_Ialltoallv, INTS(a->out_given), a->out, a->out_counts,
	     a->out_displs, MPI_INT, a->in, a->in_counts, a->in_displs, MPI_INT, on->comm);
	pieces_check("MPI_Alltoallv", a->in, a->in_counts, a->in_displs, a->n, 4);
}

/* In place what is given and got must be equally much for each pair: rank a and rank b, a + b + 1.
 */
static void alltoallv_in_place(const struct calls *on, struct amounts *a, int nb)
{
	int given;

	for (int r = 0; r < a->n; r++)
		a->in_counts[r] = on->rank + r + 1;
	clear(a->in, displs_fill(a->in_displs, a->in_counts, a->n, &given));
	for (int r = 0; r < a->n; r++)
		calls_fill(a->in + a->in_displs[r], a->in_counts[r], on->rank, 5);
	COLL(nb, MPI_Alltoallv, MPI_Ialltoallv, INTS(given), MPI_IN_PLACE, NULL, NULL,
	     MPI_DATATYPE_NULL, a->in, a->in_counts, a->in_displs, MPI_INT, on->comm);
	pieces_check("MPI_Alltoallv", a->in, a->in_counts, a->in_displs, a->n, 5);
}

/* Displacements are bytes, and each piece has a type of its own. */
static void alltoallw(const struct calls *on, struct amounts *a, int nb)
{
	MPI_Datatype *types = malloc((size_t)a->n * sizeof(MPI_Datatype));

	calls_must(types != NULL, "no memory");
	pieces_fill(on, a, 6);
	for (int r = 0; r < a->n; r++) {
		types[r] = (on->rank + r) % 2 ? MPI_INT : MPI_INT32_T;
		a->out_displs[r] *= (int)sizeof(int);
		a->in_displs[r] *= (int)sizeof(int);
	}
	COLL(nb, MPI_Alltoallw, MPI_Ialltoallw, INTS(a->out_given), a->out, a->out_counts,
	     a->out_displs, types, a->in, a->in_counts, a->in_displs, types, on->comm);
	for (int r = 0; r < a->n; r++) {
		a->out_displs[r] /= (int)sizeof(int);
		a->in_displs[r] /= (int)sizeof(int);
	}
	pieces_check("MPI_Alltoallw", a->in, a->in_counts, a->in_displs, a->n, 6);
	free(types);
}

static void reduce_scatter(const struct calls *on, struct amounts *a, int nb, int in_place)
{
	const int mine = a->counts[on->rank];

	for (int i = 0; i < a->given; i++)
		a->out[i] = a->in[i] = on->rank + i;
	COLL(nb, MPI_Reduce_scatter, MPI_Ireduce_scatter, INTS(a->given),
	     in_place ? MPI_IN_PLACE : a->out, a->in, a->counts, MPI_INT, MPI_SUM, on->comm);
	for (int i = 0; i < mine; i++) {
		int place = on->rank * (on->rank + 1) / 2 + i;
		int sum = a->n * (a->n - 1) / 2 + a->n * place;

		calls_must(a->in[i] == sum, "MPI_Reduce_scatter: number %d is %d, not %d", i,
			   a->in[i], sum);
	}
}

void calls_vectors(const struct calls *on, int nonblocking)
{
	struct amounts a;

	amounts_init(&a, on);
	for (int in_place = 0; in_place < 2; in_place++) {
		gatherv(on, &a, nonblocking, 0, in_place);
		gatherv(on, &a, nonblocking, on->size - 1, in_place);
		scatterv(on, &a, nonblocking, 0, in_place);
		scatterv(on, &a, nonblocking, on->size - 1, in_place);
		allgatherv(on, &a, nonblocking, in_place);
		reduce_scatter(on, &a, nonblocking, in_place);
	}
	alltoallv(on, &a, nonblocking);
	alltoallw(on, &a, nonblocking);
	alltoallv_in_place(on, &a, nonblocking);
	amounts_fini(&a);
}
