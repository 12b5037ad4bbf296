/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds functions and handles of the MPI library through the door. */
#include "node-agent/collect/mpi/mpi-library.h"

#include <stddef.h>

#include "node-agent/collect/core/door.h"
#include "node-agent/collect/mpi/mpi-fortran.h"

struct mpi_library mpi;

void *mpi_library_next(const char *name)
{
	return evspace_door_next(name);
}

static bool functions_find(void)
{
	bool all = true;

#define MPI_LIBRARY_FIND(name)                                                 \
	do {                                                                   \
		*(void **)(void *)&mpi.name = evspace_door_own("PMPI_" #name); \
		all = all && mpi.name;                                         \
	} while (0);
	MPI_LIBRARY_FUNCTIONS(MPI_LIBRARY_FIND)
	return all;
}

bool mpi_library_find(void)
{
	mpi.world = MPI_HANDLE(MPI_COMM_WORLD, "ompi_mpi_comm_world");
	mpi.self = MPI_HANDLE(MPI_COMM_SELF, "ompi_mpi_comm_self");
	mpi.comm_null = MPI_HANDLE(MPI_COMM_NULL, "ompi_mpi_comm_null");
	mpi.byte = MPI_HANDLE(MPI_BYTE, "ompi_mpi_byte");
	mpi.datatype_null = MPI_HANDLE(MPI_DATATYPE_NULL, "ompi_mpi_datatype_null");
	mpi.request_null = MPI_HANDLE(MPI_REQUEST_NULL, "ompi_request_null");
	mpi.message_null = MPI_HANDLE(MPI_MESSAGE_NULL, "ompi_message_null");
	mpi.message_no_proc = MPI_HANDLE(MPI_MESSAGE_NO_PROC, "ompi_message_no_proc");
	/* without it, such completions are not attributed */
	mpi.request_shared = MPI_REQUEST_SHARED;
	mpi_fortran_find();
	mpi.ready = functions_find() && mpi.world && mpi.self && mpi.comm_null && mpi.byte &&
		    mpi.datatype_null && mpi.request_null && mpi.message_null;
	return mpi.ready;
}
