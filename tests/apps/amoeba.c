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
#include "tests/apps/simplex.h"

enum variant { MPI, ASYNC, NONE, GUIDED };

struct best {
	double value;
	int rank;
};

static int rank;
static long load = 200;
static struct simplex path[SIMPLEX_ITERATIONS + 1];

static void on_block(void *arg, uint32_t number)
{
	(void)arg;
	evspace_block(number);
}

static void on_fun(void *arg)
{
	volatile double work = 0;

	(void)arg;
	for (long i = 0; i < load; i++)
		work = work * 0.5 + (double)i;
}

/* Blocks are said of what is computed in the run, and not before. */
static struct simplex_work here, told = {.block = on_block, .fun = on_fun};

/* Blocks 10 and 11: have the best of all ranks' simplexes, by now or by the end of *@under_way. */
static void agree(enum variant variant, int iteration, double value, struct simplex *s,
		  MPI_Request *under_way)
{
	struct best mine = {value, rank}, best;

	evspace_block(10);
	if (variant == MPI) {
		MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
		evspace_block(11);
		MPI_Bcast(s, sizeof(*s) / sizeof(double), MPI_DOUBLE, best.rank, MPI_COMM_WORLD);
	} else if (variant == ASYNC) {
		MPI_Iallreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD,
			       under_way);
		evspace_block(11);
		MPI_Wait(under_way, MPI_STATUS_IGNORE);
		MPI_Ibcast(s, sizeof(*s) / sizeof(double), MPI_DOUBLE, best.rank, MPI_COMM_WORLD,
			   under_way);
	} else {
		evspace_block(11);
		if (variant == GUIDED)
			*s = path[iteration + 1];
	}
}

static struct simplex run(enum variant variant)
{
	MPI_Request under_way = MPI_REQUEST_NULL;
	struct simplex s;
	double value[SIMPLEX_MOST];

	evspace_block(1);
	s = path[0];
	simplex_values(&told, &s, value);
	for (int i = 0; i < SIMPLEX_ITERATIONS; i++) {
		double now = simplex_move(&told, &s, value, rank);

		agree(variant, i, now, &s, &under_way);
		evspace_block(12);
		MPI_Wait(&under_way, MPI_STATUS_IGNORE);
		simplex_values(&told, &s, value);
	}
	evspace_block(13);
	return s;
}

/* Is it what it must be? Of ranks that have asked nobody, no worse than the first one. */
static bool right(enum variant variant, const struct simplex *s)
{
	double value[SIMPLEX_MOST], first[SIMPLEX_MOST];

	if (variant != NONE)
		return memcmp(s, &path[SIMPLEX_ITERATIONS], sizeof(*s)) == 0;
	simplex_values(&here, s, value);
	simplex_values(&here, &path[0], first);
	return value[simplex_least(&here, value)] <= first[simplex_least(&here, first)];
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
	MPI_Comm_size(MPI_COMM_WORLD, &here.size);
	told.size = here.size;
	if (variant == 4 || here.size < 3 || here.size > SIMPLEX_MOST) {
		fprintf(stderr, "usage: amoeba [mpi|async|none|guided [LOAD]], 3 to %d ranks\n",
			SIMPLEX_MOST);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	simplex_begin(&here, &path[0]);
	for (int i = 0; i < SIMPLEX_ITERATIONS; i++)
		(void)simplex_step(&here, &path[i], &path[i + 1]);
	MPI_Barrier(MPI_COMM_WORLD);
	s = run((enum variant)variant);
	bad = !right((enum variant)variant, &s);
	if (bad)
		fprintf(stderr, "amoeba: rank %d has another simplex\n", rank);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	return bad;
}
