/* SPDX-License-Identifier: BSD-3-Clause */
/* What generated wrappers do before and after the real call, by shape (tree/data/ops.tab). */
#ifndef EVSPACE_MPI_CALLS_H
#define EVSPACE_MPI_CALLS_H

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/collect-swift.h"
#include "node-agent/collect/mpi/mpi-bytes.h"
#include "node-agent/collect/mpi/mpi-comm.h"
#include "node-agent/collect/mpi/mpi-library.h"
#include "node-agent/collect/mpi/mpi-request.h"
#include "node-agent/collect/mpi/mpi-status.h"

/** Set all of *@t but its times. */
static inline __attribute__((always_inline)) void mpi_fill(struct tuple *t, uint16_t op,
							   const struct mpi_comm *at, int32_t peer,
							   uint32_t tag, uint64_t bytes)
{
	collect_fill(t, op, at->id, peer, tag, bytes);
}

/** The same for a collective with number @seq and @signature (tree/data/signature.h). */
static inline __attribute__((always_inline)) void mpi_fill_numbered(struct tuple *t, uint16_t op,
								    const struct mpi_comm *at,
								    int32_t signature, uint32_t seq,
								    uint64_t bytes)
{
	collect_fill_numbered(t, op, atomic_load_explicit(&at->classes.on, memory_order_relaxed),
			      signature, seq, bytes);
}

/** Is @root a rank that a signature can have? Else the process is on the root's side of an
 * intercommunicator, where the arguments mean nothing, or the call fails. */
static inline bool mpi_is_root(int root)
{
	return __builtin_expect((unsigned)root < SIGNATURE_NO_ROOT, 1);
}

/* A failed call has moved no bytes. */
static inline void mpi_failed(struct tuple *t, int rc)
{
	if (__builtin_expect(rc != MPI_SUCCESS, 0))
		collect_words(t, 0, collect_whom(t),
			      collect_what(t) | element_word(0, element_half(0, TUPLE_FAILED)));
}

/** End the operation of *@t, whose `end` is set. */
static inline __attribute__((always_inline)) void mpi_end(struct collect_caller caller,
							  struct tuple *t,
							  const struct collect_classes *classes,
							  unsigned channel, int rc)
{
	mpi_failed(t, rc);
	collect_end(caller, t, classes, channel);
}

static inline __attribute__((always_inline)) void mpi_swift_end(
	struct collect_caller caller, struct tuple *t, const struct collect_classes *classes,
	unsigned channel, int rc)
{
	mpi_failed(t, rc);
	collect_swift_end(caller, t, classes, channel);
}

static inline __attribute__((always_inline)) void mpi_swift_end_late(
	struct collect_caller caller, struct tuple *t, const struct collect_classes *classes,
	unsigned channel, int rc)
{
	mpi_failed(t, rc);
	collect_swift_end_late(caller, t, classes, channel);
}

/** Where a matched message came from, as far as known. */
struct mpi_matched {
	struct mpi_ranks ranks; /* to translate the ranks in its status */
	struct mpi_comm *at;	/* NULL: not known */
};

/** Begin to receive the matched @message (NULL: an error) of @bytes, with what its probe found.
 * Removes its record. */
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

/** Record the request of MPI_Comm_idup, whose completion makes the communicator. */
static inline void mpi_comm_coming_add(struct mpi_place request, const struct tuple *t,
				       struct mpi_comm *parent, struct mpi_place made)
{
	struct mpi_comm_coming *coming = mpi_comm_expect(parent, made);
	struct mpi_request *r = mpi_request_add(request, t, parent, parent->ranks, 0);

	if (r)
		mpi_request_brings(r, coming);
	else if (coming)
		mpi_comm_arrived(coming, true);
	mpi_request_publish(r);
}

/** Write the second half of an exchange: what was received, as a completion of the same call. */
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

/** Must requests and messages on @at be recorded, for their completions? */
static inline bool mpi_wanted(struct mpi_comm *at)
{
	return collect_wants(&at->classes, CHANNEL_COMPLETION) ||
	       collect_wants(&collect_none, CHANNEL_WAIT);
}

#endif
