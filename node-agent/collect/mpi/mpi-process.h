/* SPDX-License-Identifier: BSD-3-Clause */
/* The start and end of the process as an MPI program: makes and finishes its segment. */
#ifndef EVSPACE_MPI_PROCESS_H
#define EVSPACE_MPI_PROCESS_H

#include <stdint.h>

#include "node-agent/collect/core/collect-thread.h"
#include "tree/data/tuple.h"

/** MPI_Init, MPI_Init_thread: before the real one. */
void mpi_init_begin(struct tuple *t, uint16_t op);

/** After it: make the segment, and record the call. Without a segment the program just runs on. */
void mpi_init_end(struct collect_caller caller, struct tuple *t, int rc);

/** MPI_Finalize has returned: mark the segment finished, if there is one. */
void mpi_finished(void);

#endif
