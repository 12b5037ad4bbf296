/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls on persistent and freed requests: Start, Cancel, Request_free (MPI-3.1 3.8, 3.9). */
#ifndef EVSPACE_MPI_START_H
#define EVSPACE_MPI_START_H

#include "node-agent/collect/mpi/mpi-request.h"

/** One such call, on the stack of its wrapper. */
struct mpi_start {
	struct mpi_place requests;
	struct mpi_request *first; /* held records, by position */
};

/** Begin to start @n persistent requests, and hold them. Sets the tuple but its times: it has
 * their bytes, and its tag is @n if there are several. */
void mpi_start_begin(struct mpi_start *s, struct tuple *t, uint16_t op, int n,
		     struct mpi_place requests);

/** They were started at t->start, unless @rc is an error. */
void mpi_start_end(struct mpi_start *s, const struct tuple *t, int rc);

/** MPI_Request_free: remove the request's record, as no completion follows. */
void mpi_drop_begin(struct mpi_start *s, struct tuple *t, uint16_t op, struct mpi_place request);
void mpi_drop_end(struct mpi_start *s, int rc);

/** MPI_Cancel: the completion will check in the status whether it came in time. */
void mpi_cancel_begin(struct tuple *t, uint16_t op, struct mpi_place request);

/** For a call on a request: set all of @t but its times from the request's record. */
void mpi_about(struct tuple *t, uint16_t op, MPI_Request request);

#endif
