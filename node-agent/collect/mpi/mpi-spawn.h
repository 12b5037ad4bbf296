/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that a program starts while it runs: they join its run and know their parents. */
#ifndef EVSPACE_MPI_SPAWN_H
#define EVSPACE_MPI_SPAWN_H

#include <mpi.h>
#include <stdint.h>

#include "node-agent/collect/mpi/mpi-comm.h"

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

/**
 * In a process that has just started: the id of the intercommunicator to its parents, which is the
 * one @given by them (settings.h), or if that is 0 one made from its @world. 0: it was not spawned.
 */
uint32_t mpi_spawn_parent(uint32_t given, uint32_t world);

/** Record the intercommunicator to the parents under @id, which must not be 0. */
void mpi_spawn_joined(uint32_t id);

#endif
