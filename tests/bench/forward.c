/* SPDX-License-Identifier: BSD-3-Clause */
/* An empty preload: it forwards a call and does nothing else, which is the least that one can cost.
 */
#include <mpi.h>

#include "tests/bench/library.h"

static int (*real_barrier)(MPI_Comm);

static __attribute__((constructor)) void resolve(void)
{
	*(void **)&real_barrier = library_find("PMPI_Barrier");
}

int MPI_Barrier(MPI_Comm comm)
{
	return real_barrier(comm);
}
