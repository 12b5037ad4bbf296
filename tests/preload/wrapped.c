/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that wraps MPI functions itself, as those do that carry a profiler in them. */
#include <mpi.h>
#include <stdio.h>

static int barriers, sends;

int MPI_Barrier(MPI_Comm comm)
{
	barriers++;
	return PMPI_Barrier(comm);
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Init(int *argc, char ***argv)
{
	return PMPI_Init(argc, argv);
}

int main(int argc, char **argv)
{
	int rank, size, in = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 3; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	/* not one of those that are wrapped, and yet called by its other name */
	PMPI_Allreduce(&rank, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		for (int i = 1; i < size; i++)
			MPI_Send(&i, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0)
		printf("wrapped: %d barriers, %d sends\n", barriers, sends);
	MPI_Finalize();
	return 0;
}
