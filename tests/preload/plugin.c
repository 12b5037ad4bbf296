/* SPDX-License-Identifier: BSD-3-Clause */
/* A module that brings the MPI library with it, as the modules of interpreters do. */
#include <mpi.h>
#include <stdio.h>

int plugin_run(void);

int plugin_run(void)
{
	int rank, sum, provided;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("plugin: %d\n", sum);
	MPI_Finalize();
	return 0;
}
