/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests under way: what was started, for its completion, which may be in any thread. */
#ifndef EVSPACE_MPI_REQUEST_H
#define EVSPACE_MPI_REQUEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/collect/mpi/mpi-comm.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-place.h"
#include "tree/data/tuple.h"

/** Flags of a request. */
enum mpi_request_kind {
	MPI_REQUEST_RECEIVES = 1 << 0,	 /* its status has peer, tag and bytes */
	MPI_REQUEST_PERSISTENT = 1 << 1, /* stays on record until it is freed */
	MPI_REQUEST_ACTIVE = 1 << 2,	 /* started and not yet complete */
	MPI_REQUEST_CANCEL = 1 << 3,	 /* MPI_Cancel was called */
	MPI_REQUEST_LOCATED = 1 << 4,	 /* in the table by the address of the program's variable */
	MPI_REQUEST_MOVED = 1 << 5,	 /* no longer there: found by its turn */
	MPI_REQUEST_TRANSFERS = 1 << 6,	 /* its status has only bytes */
	MPI_REQUEST_MESSAGE = 1 << 7,	 /* it is a matched message */
	MPI_REQUEST_UNNUMBERED = 1 << 8, /* its tuples are TUPLE_UNNUMBERED */
	MPI_REQUEST_BRINGS = 1 << 9,	 /* its completion makes a communicator */
	MPI_REQUEST_COLLECTIVE = 1 << 10, /* its peer is a signature (tree/data/signature.h) */
};

/** One request (or matched message). Belongs to the holder of its slot. What all use is in one
 * cache line. */
struct mpi_request {
	_Alignas(64) uint64_t start; /* ticks */
	uint64_t bytes;		     /* as posted */
	int32_t peer;
	uint32_t tag;
	uint32_t comm;
	uint16_t op;
	uint16_t kind; /* enum mpi_request_kind; 0: free */
	struct mpi_ranks ranks;
	struct mpi_comm *at; /* its communicator's record, valid if still of `comm`; NULL: none */
	uintptr_t key;	     /* the handle, or the variable's address */

	struct mpi_comm_coming *coming; /* of one that BRINGS: MPI_Comm_idup */
	struct mpi_request *next;	/* in the list held by one Wait, by position */
	int position;			/* in the program's array */
	uint32_t turn;			/* if LOCATED: its ordinal in its queue */
	uint16_t queue;			/* and which that is: of the thread that started it */
};

/** Whom its Wait is with. */
static inline int32_t mpi_request_peer(const struct mpi_request *r)
{
	return __builtin_expect(r->kind & MPI_REQUEST_COLLECTIVE, 0) ? TUPLE_NO_PEER : r->peer;
}

/** How many there are, if only one thread at a time calls MPI. */
extern _Atomic uint64_t mpi_requests_booked;

/** Is there certainly none? */
static inline bool mpi_requests_none(void)
{
	return !mpi.multiple &&
	       atomic_load_explicit(&mpi_requests_booked, memory_order_relaxed) == 0;
}

/**
 * Record what @t has started (its op, peer, tag, bytes, comm and start) with the request that MPI
 * has just stored at @where. Persistent ones are recorded inactive. Missing room is noted in the
 * header. Returns the record, still private to the caller, or NULL; pass it to
 * mpi_request_publish().
 */
struct mpi_request *mpi_request_add(struct mpi_place where, const struct tuple *t,
				    struct mpi_comm *at, struct mpi_ranks ranks, unsigned kind);

/** Make the record visible to other threads. NULL is fine. */
void mpi_request_publish(struct mpi_request *r);

/** Hold the record of the request @handle that was at @where, so that no other thread finds it.
 * NULL: there is none (as for MPI_REQUEST_NULL). */
struct mpi_request *mpi_request_hold(MPI_Request handle, struct mpi_place where);

/** Free a held record. */
void mpi_request_remove(struct mpi_request *r);

/** Note that the completion of the caller's held record makes a communicator. */
static inline void mpi_request_brings(struct mpi_request *r, struct mpi_comm_coming *coming)
{
	r->coming = coming;
	if (coming)
		r->kind |= MPI_REQUEST_BRINGS;
}

/** Matched messages (MPI_Mprobe) are recorded likewise; hold passes the record to its receiver. */
void mpi_message_add(MPI_Message message, const struct tuple *t, struct mpi_comm *at,
		     struct mpi_ranks ranks);
struct mpi_request *mpi_message_hold(MPI_Message message);

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
