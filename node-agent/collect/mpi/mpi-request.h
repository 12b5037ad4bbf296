/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests under way: what was started, so that its completion can say so, in whichever thread. */
#ifndef EVSPACE_MPI_REQUEST_H
#define EVSPACE_MPI_REQUEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/collect/mpi/mpi-comm.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-place.h"
#include "tree/data/tuple.h"

/** What else is known of a request. */
enum mpi_request_kind {
	MPI_REQUEST_RECEIVES = 1 << 0,	 /* its status tells peer, tag and bytes */
	MPI_REQUEST_PERSISTENT = 1 << 1, /* stays on record until it is freed */
	MPI_REQUEST_ACTIVE = 1 << 2,	 /* started and not yet complete */
	MPI_REQUEST_CANCEL = 1 << 3,	 /* MPI_Cancel was called */
	MPI_REQUEST_LOCATED = 1 << 4,	 /* on record by the address of the program's variable */
	MPI_REQUEST_MOVED = 1 << 5,	 /* it is not there any more: found by its turn */
	MPI_REQUEST_TRANSFERS = 1 << 6,	 /* its status tells bytes alone */
	MPI_REQUEST_MESSAGE = 1 << 7,	 /* it is a matched message */
	MPI_REQUEST_UNNUMBERED = 1 << 8, /* its tuples are TUPLE_UNNUMBERED */
	MPI_REQUEST_BRINGS = 1 << 9,	 /* with it a communicator arrives */
};

/** One request (or matched message). Belongs to whoever holds its slot. What all need is in one
 * cache line. */
struct mpi_request {
	_Alignas(64) uint64_t start; /* ticks */
	uint64_t bytes;		     /* as posted */
	int32_t peer;
	uint32_t tag;
	uint32_t comm;
	uint16_t op;
	uint16_t kind; /* enum mpi_request_kind; 0: nothing is on record here */
	struct mpi_ranks ranks;
	struct mpi_comm *at; /* its communicator's record, if that is still of `comm`; NULL: none */
	uintptr_t key;	     /* the handle, or the variable's address */

	struct mpi_comm_coming *coming; /* of one that BRINGS: MPI_Comm_idup */
	struct mpi_request *next;	/* of those that one Wait holds; by position */
	int position;			/* in the program's array */
	uint32_t turn;			/* of one that is LOCATED: its ordinal */
};

/** How many are on record, where one thread at a time calls MPI. */
extern _Atomic uint64_t mpi_requests_booked;

/** Is there surely none on record? */
static inline bool mpi_requests_none(void)
{
	return !mpi.multiple &&
	       atomic_load_explicit(&mpi_requests_booked, memory_order_relaxed) == 0;
}

/**
 * Put on record what @t has started (its op, peer, tag, bytes, comm and start) with the request at
 * @where, which MPI has just put there. Persistent ones are recorded inactive. Without room: noted
 * in the header. Returns the record while it is still the caller's alone to change, or NULL; then
 * mpi_request_publish() it.
 */
struct mpi_request *mpi_request_add(struct mpi_place where, const struct tuple *t,
				    struct mpi_comm *at, struct mpi_ranks ranks, unsigned kind);

/** Let others find the record. NULL is fine. */
void mpi_request_publish(struct mpi_request *r);

/**
 * Hold the record of the request @handle that was at @where, so that no one else finds it. NULL: it
 * is not on record (MPI_REQUEST_NULL never is).
 */
struct mpi_request *mpi_request_hold(MPI_Request handle, struct mpi_place where);

/** Give back a held record: under the handle that is at @where now. */
void mpi_request_return(struct mpi_request *r, struct mpi_place where);

/** Give up a held record for good. */
void mpi_request_remove(struct mpi_request *r);

/** The record of the request at @where, which nobody completes meanwhile, not held. NULL: none. */
struct mpi_request *mpi_request_look(struct mpi_place where);

/** With the request whose record the caller holds, a communicator arrives. */
static inline void mpi_request_brings(struct mpi_request *r, struct mpi_comm_coming *coming)
{
	r->coming = coming;
	if (coming)
		r->kind |= MPI_REQUEST_BRINGS;
}

/** Matched messages (MPI_Mprobe) are kept likewise; hold gives the record to its receiver. */
void mpi_message_add(MPI_Message message, const struct tuple *t, struct mpi_comm *at,
		     struct mpi_ranks ranks);
struct mpi_request *mpi_message_hold(MPI_Message message);

#endif
