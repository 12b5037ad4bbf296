/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for the least value of a function by a simplex that has a vertex for each rank, and says
 * its blocks (evspace.h) as Table 1 of Gomez, Cai and Schubert, Entropy of Parallel Execution and
 * Communication, numbers them. Ranks move their own vertices; the best of the simplexes that come
 * of that is where all go on: by blocking collectives (mpi), by others (async), as was computed
 * before (guided), or each with its own (none). Ends with 1 if the last simplex is not the one that
 * was computed before.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/collect/core/evspace.h"

#define MOST	   64
#define ITERATIONS 20

enum variant { MPI, ASYNC, NONE, GUIDED };

struct simplex {
	double at[MOST][MOST];
};

struct best {
	double value;
	int rank;
};

static int rank, size, dim;
static long load = 200;
static bool says; /* not what is computed before */
static struct simplex path[ITERATIONS + 1];

static void block(uint32_t number)
{
	if (says)
		evspace_block(number);
}

/* Rosenbrock's valley, lower for those that stay near it. */
static double fun(const double *x)
{
	double sum = 0;
	volatile double work = 0;

	for (long i = 0; says && i < load; i++)
		work = work * 0.5 + (double)i;
	for (int i = 0; i + 1 < dim; i++)
		sum += (x[i + 1] - x[i] * x[i]) * (x[i + 1] - x[i] * x[i]) +
		       (1 - x[i]) * (1 - x[i]) / 100;
	return sum;
}

static void values(const struct simplex *s, double *value)
{
	for (int i = 0; i < size; i++)
		value[i] = fun(s->at[i]);
}

static int least(const double *value)
{
	int at = 0;

	for (int i = 1; i < size; i++)
		at = value[i] < value[at] ? i : at;
	return at;
}

/* Vertex @me moved by @factor of its way through the middle of the others. */
static double project(const struct simplex *s, int me, double factor, double *to)
{
	for (int k = 0; k < dim; k++) {
		double middle = 0;

		for (int i = 0; i < size; i++)
			middle += i == me ? 0 : s->at[i][k];
		middle /= size - 1;
		to[k] = s->at[me][k] + factor * (middle - s->at[me][k]);
	}
	return fun(to);
}

static void shrink(struct simplex *s, const double *value, int me)
{
	int to = least(value);

	for (int k = 0; k < dim; k++) {
		if (to != me)
			s->at[me][k] = (s->at[me][k] + s->at[to][k]) / 2;
	}
}

/* What rank @me makes of the simplex: blocks 2 to 9. Returns the least value in it. */
static double move(struct simplex *s, double *value, int me)
{
	double test[MOST], more[MOST], tested, extended;
	int low;

	block(2);
	low = least(value);
	block(3);
	tested = project(s, me, 2, test);
	block(4);
	if (tested < value[low]) {
		block(5);
		extended = project(s, me, 3, more);
		block(6);
		memcpy(s->at[me], extended < tested ? more : test, (size_t)dim * sizeof(*test));
	} else {
		block(7);
		shrink(s, value, me);
		values(s, value);
		block(8);
	}
	block(9);
	value[me] = fun(s->at[me]);
	return value[least(value)];
}

/* All ranks' moves, one after the other. */
static void compute(const struct simplex *from, struct simplex *to)
{
	double value[MOST], lowest = 0;

	for (int me = 0; me < size; me++) {
		struct simplex s = *from;
		double now;

		values(&s, value);
		now = move(&s, value, me);
		if (me > 0 && now >= lowest)
			continue;
		lowest = now;
		*to = s;
	}
}

/* Blocks 10 and 11: have the best of all ranks' simplexes, by now or by the end of *@under_way. */
static void agree(enum variant variant, int iteration, double value, struct simplex *s,
		  MPI_Request *under_way)
{
	struct best mine = {value, rank}, best;

	block(10);
	if (variant == MPI) {
		MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
		block(11);
		MPI_Bcast(s, sizeof(*s) / sizeof(double), MPI_DOUBLE, best.rank, MPI_COMM_WORLD);
	} else if (variant == ASYNC) {
		MPI_Iallreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD,
			       under_way);
		block(11);
		MPI_Wait(under_way, MPI_STATUS_IGNORE);
		MPI_Ibcast(s, sizeof(*s) / sizeof(double), MPI_DOUBLE, best.rank, MPI_COMM_WORLD,
			   under_way);
	} else {
		block(11);
		if (variant == GUIDED)
			*s = path[iteration + 1];
	}
}

static struct simplex run(enum variant variant)
{
	MPI_Request under_way = MPI_REQUEST_NULL;
	struct simplex s;
	double value[MOST];

	block(1);
	s = path[0];
	values(&s, value);
	for (int i = 0; i < ITERATIONS; i++) {
		double now = move(&s, value, rank);

		agree(variant, i, now, &s, &under_way);
		block(12);
		MPI_Wait(&under_way, MPI_STATUS_IGNORE);
		values(&s, value);
	}
	block(13);
	return s;
}

/* Is it what it must be? Of ranks that have asked nobody, no worse than the first one. */
static bool right(enum variant variant, const struct simplex *s)
{
	double value[MOST], first[MOST];

	if (variant != NONE)
		return memcmp(s, &path[ITERATIONS], sizeof(*s)) == 0;
	values(s, value);
	values(&path[0], first);
	return value[least(value)] <= first[least(first)];
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"mpi", "async", "none", "guided"};
	int variant = 0, bad;
	struct simplex s;

	while (variant < 4 && argc > 1 && strcmp(argv[1], names[variant]) != 0)
		variant++;
	load = argc > 2 ? atol(argv[2]) : load;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	dim = size - 1;
	if (variant == 4 || size < 3 || size > MOST) {
		fprintf(stderr, "usage: amoeba [mpi|async|none|guided [LOAD]], 3 to %d ranks\n",
			MOST);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	for (int i = 0; i < size; i++) {
		for (int k = 0; k < dim; k++)
			path[0].at[i][k] = (i == k + 1 ? 1.5 : 0) - 0.5;
	}
	for (int i = 0; i < ITERATIONS; i++)
		compute(&path[i], &path[i + 1]);
	MPI_Barrier(MPI_COMM_WORLD);
	says = true;
	s = run((enum variant)variant);
	says = false;
	bad = !right((enum variant)variant, &s);
	if (bad)
		fprintf(stderr, "amoeba: rank %d has another simplex\n", rank);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	return bad;
}
