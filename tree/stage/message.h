/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: which tuples are one that was sent or received, so that each is counted once. */
#ifndef EVSPACE_MESSAGE_H
#define EVSPACE_MESSAGE_H

#include <stdint.h>

#include "tree/data/tuple.h"

/** What a tuple says of a message between its process and its peer. */
enum message {
	MESSAGE_NONE,
	MESSAGE_SENT,	  /* to the peer: sends, and what is put into its window */
	MESSAGE_FETCHED,  /* from the peer, which does nothing for it (MPI-3.1 11.3: MPI_Get) */
	MESSAGE_RECEIVED, /* from the peer, where it has been sent */
};

/**
 * Which of them @tuple is. Of a nonblocking send its start counts (that has peer and bytes), of a
 * nonblocking receive its completion (only that knows them), of persistent requests each
 * completion; what is under way, cancelled or has no peer is none.
 */
enum message message_of(const struct tuple *tuple);

#endif
