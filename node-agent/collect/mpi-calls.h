/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated wrappers do before and after the real call; a shape of tree/ops.tab each. */
#ifndef EVSPACE_MPI_CALLS_H
#define EVSPACE_MPI_CALLS_H

#include "node-agent/collect/collect.h"
#include "node-agent/collect/collect-swift.h"
#include "node-agent/collect/mpi-bytes.h"
#include "node-agent/collect/mpi-comm.h"
#include "node-agent/collect/mpi-library.h"
#include "node-agent/collect/mpi-request.h"

/** Statuses that a call gets from us when the program ignores them; with more requests: as posted.
 */
#define MPI_OWN_STATUSES 512

/** Fill all of *@t but its times. */
static inline __attribute__((always_inline)) void mpi_fill(struct tuple *t, uint16_t op,
							   const struct mpi_comm *at, int32_t peer,
							   uint32_t tag, uint64_t bytes)
{
	collect_fill(t, op, at->id, peer, tag, bytes);
}

/** The same of a collective: @seq is its number. */
static inline __attribute__((always_inline)) void mpi_fill_numbered(struct tuple *t, uint16_t op,
								    const struct mpi_comm *at,
								    uint32_t seq, uint64_t bytes)
{
	collect_fill_numbered(t, op, atomic_load_explicit(&at->classes.on, memory_order_relaxed),
			      seq, bytes);
}

/* What has failed has moved nothing. */
static inline void mpi_failed(struct tuple *t, int rc)
{
	if (__builtin_expect(rc != MPI_SUCCESS, 0))
		collect_words(t, 0, collect_whom(t),
			      collect_what(t) | element_word(0, element_half(0, TUPLE_FAILED)));
}

/** Write *@t, whose `end` is set. */
static inline __attribute__((always_inline)) void mpi_end(struct tuple *t,
							  const struct collect_classes *classes,
							  unsigned channel, int rc)
{
	mpi_failed(t, rc);
	collect_end(t, classes, channel);
}

static inline __attribute__((always_inline)) void mpi_swift_end(
	struct tuple *t, const struct collect_classes *classes, unsigned channel, int rc)
{
	mpi_failed(t, rc);
	collect_swift_end(t, classes, channel);
}

static inline __attribute__((always_inline)) void mpi_swift_end_late(
	struct tuple *t, const struct collect_classes *classes, unsigned channel, int rc)
{
	mpi_failed(t, rc);
	collect_swift_end_late(t, classes, channel);
}

/** Where the library shall put a status: ours when the program ignores it. */
static inline MPI_Status *mpi_status(MPI_Status *theirs, MPI_Status *own)
{
	return theirs == MPI_STATUS_IGNORE ? own : theirs;
}

/** Peer and tag of a message that was found or received (MPI-3.1 3.2.5). */
static inline void mpi_tuple_from(struct tuple *t, struct mpi_ranks ranks, const MPI_Status *status)
{
	collect_words(t, t->bytes,
		      element_word((uint32_t)mpi_ranks_peer(ranks, status->MPI_SOURCE),
				   (uint32_t)status->MPI_TAG),
		      collect_what(t));
}

/** Bytes of what was transferred, if the status tells. */
static inline void mpi_tuple_moved(struct tuple *t, const MPI_Status *status)
{
#if defined(OPEN_MPI)
	/* what MPI_Get_count divides by the size of the type (its mpi.h) */
	t->bytes = status->_ucount;
#else
	int bytes;
	MPI_Count more;

	if (mpi.Get_count(status, mpi.byte, &bytes) == MPI_SUCCESS && bytes != MPI_UNDEFINED)
		t->bytes = (uint64_t)bytes;
	else if (mpi.Get_elements_x(status, mpi.byte, &more) == MPI_SUCCESS && more >= 0)
		t->bytes = (uint64_t)more;
#endif
}

/** Peer, tag and bytes of what was received. */
static inline void mpi_tuple_received(struct tuple *t, struct mpi_ranks ranks,
				      const MPI_Status *status)
{
	mpi_tuple_from(t, ranks, status);
	mpi_tuple_moved(t, status);
}

/** Where a matched message came by, as far as that is on record. */
struct mpi_matched {
	struct mpi_ranks ranks; /* whom the ranks in its status mean */
	struct mpi_comm *at;	/* NULL: not known */
};

/** Begin to receive the matched @message (NULL: an error) of @bytes: what its probe has found. It
 * leaves the record. */
static inline struct mpi_matched mpi_matched(struct tuple *t, uint16_t op,
					     const MPI_Message *message, uint64_t bytes)
{
	struct mpi_request *r = message ? mpi_message_hold(*message) : NULL;
	struct mpi_matched from = {.at = NULL};

	*t = (struct tuple){.bytes = bytes, .peer = TUPLE_NO_PEER, .op = op};
	if (r) {
		t->peer = r->peer;
		t->seq_or_tag = r->tag;
		t->comm = r->comm;
		from = (struct mpi_matched){.ranks = r->ranks, .at = r->at};
		mpi_request_remove(r);
	}
	return from;
}

/** The request of MPI_Comm_idup: with its completion the communicator is there. */
static inline void mpi_comm_coming_add(struct mpi_place request, const struct tuple *t,
				       struct mpi_comm *parent, struct mpi_place made)
{
	struct mpi_comm_coming *coming = mpi_comm_expect(parent, made);
	struct mpi_request *r = mpi_request_add(request, t, parent, parent->ranks, 0);

	if (r)
		mpi_request_brings(r, coming);
	else if (coming)
		mpi_comm_arrived(coming);
	mpi_request_publish(r);
}

/** Statuses that the library has filled; NULL: it was told to ignore them, which MPICH calls 1. */
static inline const MPI_Status *mpi_statuses_known(const MPI_Status *where)
{
	return where == MPI_STATUSES_IGNORE || where == MPI_STATUS_IGNORE ? NULL : where;
}

/** Where the library shall put @n statuses: ours when the program ignores them and they fit. */
static inline MPI_Status *mpi_statuses(MPI_Status *theirs, MPI_Status *own, int n)
{
	if (theirs != MPI_STATUSES_IGNORE || n > MPI_OWN_STATUSES)
		return theirs;
	return own;
}

/** The second half of an exchange: what was received, as a completion of the same call. */
static inline void mpi_exchange_received(const struct tuple *call, struct mpi_comm *at,
					 const MPI_Status *status, int rc)
{
	struct tuple t = *call;

	if (rc != MPI_SUCCESS)
		return;
	t.flags = TUPLE_COMPLETION;
	mpi_tuple_received(&t, at->ranks, status);
	collect_extra(&t, &at->classes, CHANNEL_COMPLETION);
}

/** Is it to be known, at their ends, what requests and messages on @at are? */
static inline bool mpi_wanted(struct mpi_comm *at)
{
	return collect_wants(&at->classes, CHANNEL_COMPLETION) ||
	       collect_wants(&collect_none, CHANNEL_WAIT);
}

#endif
