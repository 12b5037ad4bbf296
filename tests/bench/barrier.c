/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a preloaded collector adds to an MPI call: a barrier of one process through the wrapper and
 * past it (PMPI), in turn. Prints nanoseconds added, those of two bare clock reads, and the ratio.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tree/clock.h"

enum { PAIRS = 401, CALLS = 2000 };

static volatile uint64_t sink;

static double barriers(int (*barrier)(MPI_Comm))
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < CALLS; i++)
		barrier(MPI_COMM_SELF);
	return (double)(clock_mono_ns() - ns) / CALLS;
}

static double clocks(void)
{
	uint64_t ns = clock_mono_ns();

	for (int i = 0; i < CALLS; i++) {
		uint64_t start = clock_ticks(CLOCK_TICKS_TSC);

		sink = start;
		sink = clock_ticks(CLOCK_TICKS_TSC) - start;
	}
	return (double)(clock_mono_ns() - ns) / CALLS;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, PAIRS, sizeof(*values), compare);
	return values[PAIRS / 2];
}

int main(int argc, char **argv)
{
	static double added[PAIRS], bare[PAIRS], ratios[PAIRS];

	MPI_Init(&argc, &argv);
	barriers(MPI_Barrier);
	for (int i = 0; i < PAIRS; i++) {
		bare[i] = clocks();
		added[i] = barriers(MPI_Barrier) - barriers(PMPI_Barrier);
		ratios[i] = added[i] / bare[i];
	}
	printf("%.2f %.2f %.3f\n", median(added), median(bare), median(ratios));
	MPI_Finalize();
	return 0;
}
