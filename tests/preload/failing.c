/* SPDX-License-Identifier: BSD-3-Clause */
/* A library in which waiting for a single request always fails: it is complete, in vain. */
#include <mpi.h>

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	PMPI_Wait(request, status);
	return MPI_ERR_OTHER;
}
