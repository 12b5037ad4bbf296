/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: which tuples stand for a sent or received message, so that each is counted once. */
#ifndef EVSPACE_MESSAGE_H
#define EVSPACE_MESSAGE_H

#include <stdint.h>

#include "tree/data/tuple.h"

/** What a tuple says of a message between its process and its peer. */
enum message {
	MESSAGE_NONE,
	MESSAGE_SENT,	  /* to the peer: sends, and puts into its window */
	MESSAGE_FETCHED,  /* from the peer, which takes no part (MPI-3.1 11.3: MPI_Get) */
	MESSAGE_RECEIVED, /* from the peer, which has sent it */
};

/**
 * What @tuple stands for. A nonblocking send counts at its start, which has peer and bytes; a
 * nonblocking receive at its completion, which alone has them; a persistent request at each
 * completion. MESSAGE_NONE if it is under way, cancelled or without a peer.
 */
enum message message_of(const struct tuple *tuple);

/** The same between ranks of MPI that both take part in it; MESSAGE_NONE of all others. */
enum message message_between(const struct tuple *tuple);

#endif
