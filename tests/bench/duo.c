/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two MPI processes, watched: 8 bytes to and fro, or reduced, through the preloaded collector
 * (MPI_X) and past it (PMPI_X) in turn. Prints nanoseconds with, without, and the ratio.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/library.h"
#include "tests/bench/pairs.h"
#include "tree/data/clock.h"

enum { CALLS = 500 };

static int rank;

/** The calls to measure: through whatever is preloaded, and in the library itself. */
static struct calls {
	__typeof__(PMPI_Send) *send;
	__typeof__(PMPI_Recv) *receive;
	__typeof__(PMPI_Allreduce) *allreduce;
	__typeof__(PMPI_Barrier) *barrier;
} watched, alone;

static void calls_find(void)
{
	*(void **)&watched.send = dlsym(RTLD_DEFAULT, "MPI_Send");
	*(void **)&watched.receive = dlsym(RTLD_DEFAULT, "MPI_Recv");
	*(void **)&watched.allreduce = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
	*(void **)&alone.send = library_find("PMPI_Send");
	*(void **)&alone.receive = library_find("PMPI_Recv");
	*(void **)&alone.allreduce = library_find("PMPI_Allreduce");
	*(void **)&alone.barrier = library_find("PMPI_Barrier");
}

/* Both ranks begin together, and the time is that of one of them. */
static uint64_t begin(void)
{
	alone.barrier(MPI_COMM_WORLD);
	return clock_mono_ns();
}

static double pingpong(const struct calls *calls)
{
	uint64_t ns = begin();
	double value = 1;

	for (int i = 0; i < CALLS; i++) {
		if (rank == 0)
			calls->send(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
		calls->receive(&value, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD,
			       MPI_STATUS_IGNORE);
		if (rank == 1)
			calls->send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
	}
	return (double)(clock_mono_ns() - ns) / CALLS;
}

static double allreduce(const struct calls *calls)
{
	uint64_t ns = begin();
	double value = 1, sum;

	for (int i = 0; i < CALLS; i++)
		calls->allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return (double)(clock_mono_ns() - ns) / CALLS;
}

static double pingpong_watched(void)
{
	return pingpong(&watched);
}

static double pingpong_alone(void)
{
	return pingpong(&alone);
}

static double allreduce_watched(void)
{
	return allreduce(&watched);
}

static double allreduce_alone(void)
{
	return allreduce(&alone);
}

static const struct {
	const char *name;
	double (*watched)(void), (*alone)(void);
} cases[] = {
	{"pingpong", pingpong_watched, pingpong_alone},
	{"allreduce", allreduce_watched, allreduce_alone},
};

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : PAIRS_FULL;
	struct pairs result;
	int known = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	calls_find();
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, argv[1]) != 0)
			continue;
		known = 1;
		result = pairs_measure(cases[i].watched, cases[i].alone, n);
		if (rank == 0)
			printf("figures %.3f %.3f %.4f\n", result.ns, result.limit_ns,
			       result.ratio);
	}
	MPI_Finalize();
	return known ? 0 : 2;
}
