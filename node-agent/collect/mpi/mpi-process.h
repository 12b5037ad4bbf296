/* SPDX-License-Identifier: BSD-3-Clause */
/* The start and end of the process as an MPI program, and of the processes that it spawns. */
#ifndef EVSPACE_MPI_PROCESS_H
#define EVSPACE_MPI_PROCESS_H

#include <mpi.h>
#include <stdint.h>

#include "node-agent/collect/core/collect-thread.h"
#include "node-agent/collect/mpi/mpi-comm.h"
#include "tree/data/tuple.h"

/** MPI_Init, MPI_Init_thread: before the real one. */
void mpi_init_begin(struct tuple *t, uint16_t op);

/** After it: make the segment, and record the call. Without a segment the program just runs on. */
void mpi_init_end(struct collect_caller caller, struct tuple *t, int rc);

/** MPI_Finalize has returned: mark the segment finished, if there is one. */
void mpi_finished(void);

/** One MPI_Comm_spawn or _spawn_multiple, on the stack of its wrapper. */
struct mpi_spawn {
	uint32_t id;	/* of the intercommunicator that it makes */
	char **environ; /* of the program; NULL: not changed */
};

/**
 * Before the real call, on all members of @at; rank @root passes the id and the run's name to the
 * children. No message is sent: Open MPI passes the root's variables that begin with OMPI_MCA_ on,
 * and during the call there is one more. (MPICH passes nothing on: there the intercommunicator gets
 * no id.)
 */
void mpi_spawn_begin(struct mpi_spawn *s, struct mpi_comm *at, int root);

/** After it: restore the environment, and record the communicator at @made unless the call
 * failed. */
void mpi_spawn_end(struct mpi_spawn *s, const MPI_Comm *made, int rc);

#endif
