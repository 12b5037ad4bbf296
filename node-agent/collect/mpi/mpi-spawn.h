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
	char **environ; /* of the program; NULL: it was not touched */
};

/**
 * Before the real call, on all members of @at; the one with rank @root hands the id and the name of
 * the run down to the children. Nothing is sent: Open MPI gives them the variables of the root that
 * begin with OMPI_MCA_, and for the time of the call there is one more of these. (MPICH hands
 * nothing down: what its children have with their parents gets no id.)
 */
void mpi_spawn_begin(struct mpi_spawn *s, struct mpi_comm *at, int root);

/** After it: the environment is as it was, and what is at @made, unless it failed, on record. */
void mpi_spawn_end(struct mpi_spawn *s, const MPI_Comm *made, int rc);

/**
 * In a process that has just started: the id of what it has in common with those who spawned it:
 * the one that was @given by them (settings.h), or if that is 0 one of its @world's own. 0: nobody
 * did.
 */
uint32_t mpi_spawn_parent(uint32_t given, uint32_t world);

/** Put the intercommunicator with them on record, under the id that is not 0. */
void mpi_spawn_joined(uint32_t id);

#endif
