/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums values of all ranks up to each, by halves of communicators, and says its blocks (evspace.h)
 * as Table 2 of Gomez, Cai and Schubert, Entropy of Parallel Execution and Communication, numbers
 * them. Ends with 1 if a sum is not what it must be. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "node-agent/collect/core/evspace.h"

/* Blocks. */
enum { BEGIN, HALVE, LOW, HIGH, BACK, ADD, BASE, RETURN };

/* What the base case takes. */
static long load = 1000;

static double base(double y)
{
	volatile double x = y;

	evspace_block(BASE);
	for (long i = 0; i < load; i++)
		x = x * 0.5 + y * 0.5;
	return x;
}

static double prefix(double y, int me, int size, MPI_Comm all)
{
	int middle = (size + 1) / 2, low = me < middle, half_me, half_size;
	double top;
	MPI_Comm half;

	evspace_block(BEGIN);
	if (size == 1) {
		y = base(y);
		evspace_block(RETURN);
		return y;
	}
	evspace_block(HALVE);
	MPI_Comm_split(all, low, me, &half);
	MPI_Comm_rank(half, &half_me);
	MPI_Comm_size(half, &half_size);
	evspace_block(low ? LOW : HIGH);
	y = prefix(y, half_me, half_size, half);
	evspace_block(BACK);
	MPI_Comm_free(&half);
	top = y;
	evspace_block(ADD);
	MPI_Bcast(&top, 1, MPI_DOUBLE, middle - 1, all);
	if (!low)
		y += top;
	evspace_block(RETURN);
	return y;
}

int main(int argc, char **argv)
{
	int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 5, bad = 0;

	load = argc > 2 ? atol(argv[2]) : load;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int round = 1; round <= rounds; round++) {
		double sum = prefix((double)round * (rank + 1), rank, size, MPI_COMM_WORLD);

		/* whole numbers, so that it is exact */
		bad |= sum != (double)round * (rank + 1) * (rank + 2) / 2;
	}
	if (bad)
		fprintf(stderr, "prefix: rank %d has another sum\n", rank);
	MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	MPI_Finalize();
	return bad;
}
