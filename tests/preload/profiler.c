/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another tool, of the kind that MPI provides for (MPI-3.1 14.2): it counts barriers and goes on by
 * PMPI_, past all other tools; calls of its own are made by PMPI_, too.
 */
#include <mpi.h>
#include <stdio.h>

static int barriers;

int MPI_Barrier(MPI_Comm comm)
{
	int one = 1, sum;

	barriers++;
	PMPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		printf("profiler: %d barriers\n", barriers);
	return PMPI_Finalize();
}
