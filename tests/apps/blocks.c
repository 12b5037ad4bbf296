/* SPDX-License-Identifier: BSD-3-Clause */
/* Says its blocks (evspace.h), one rank after the other, STEPS times, and prints what it says as a
 * file that `evspace phase --file` reads. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "node-agent/collect/core/evspace.h"

int main(int argc, char **argv)
{
	int rank, size, steps = argc > 1 ? atoi(argv[1]) : 20;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < steps * size; i++) {
		uint32_t block = (uint32_t)(i * i + i / size) % 5 + 1;

		if (i % size == rank)
			evspace_block(block);
		if (rank == 0)
			printf("%d %u %d\n", i + 1, block, i % size);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
