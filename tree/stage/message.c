/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up which message an operation's own tuple stands for, and which its completion. */
#include "tree/stage/message.h"

#include <stddef.h>

#include "tree/data/op-table.h"
#include "tree/data/op.h"

struct way {
	uint8_t call, completion; /* enum message */
};

#define SENDS                              \
	{                                  \
		MESSAGE_SENT, MESSAGE_NONE \
	}
#define RECEIVES                               \
	{                                      \
		MESSAGE_RECEIVED, MESSAGE_NONE \
	}
#define RECEIVES_LATER                         \
	{                                      \
		MESSAGE_NONE, MESSAGE_RECEIVED \
	}
#define SENDS_LATER                        \
	{                                  \
		MESSAGE_NONE, MESSAGE_SENT \
	}
#define EXCHANGES                              \
	{                                      \
		MESSAGE_SENT, MESSAGE_RECEIVED \
	}
#define FETCHES                               \
	{                                     \
		MESSAGE_FETCHED, MESSAGE_NONE \
	}

/* MPI-3.1 chapters 3 and 11; PVM 3.4. An operation that changes the target counts as sent, one that
 * only reads it as fetched. */
static const struct way ways[] = {
	[OP_MPI_SEND] = SENDS,
	[OP_MPI_BSEND] = SENDS,
	[OP_MPI_SSEND] = SENDS,
	[OP_MPI_RSEND] = SENDS,
	[OP_MPI_RECV] = RECEIVES,
	[OP_MPI_MRECV] = RECEIVES,
	[OP_MPI_SENDRECV] = EXCHANGES,
	[OP_MPI_SENDRECV_REPLACE] = EXCHANGES,
	[OP_MPI_ISEND] = SENDS,
	[OP_MPI_IBSEND] = SENDS,
	[OP_MPI_ISSEND] = SENDS,
	[OP_MPI_IRSEND] = SENDS,
	[OP_MPI_IRECV] = RECEIVES_LATER,
	[OP_MPI_IMRECV] = RECEIVES_LATER,
	[OP_MPI_ISENDRECV] = EXCHANGES,
	[OP_MPI_ISENDRECV_REPLACE] = EXCHANGES,
	[OP_MPI_SEND_INIT] = SENDS_LATER,
	[OP_MPI_BSEND_INIT] = SENDS_LATER,
	[OP_MPI_SSEND_INIT] = SENDS_LATER,
	[OP_MPI_RSEND_INIT] = SENDS_LATER,
	[OP_MPI_PSEND_INIT] = SENDS_LATER,
	[OP_MPI_RECV_INIT] = RECEIVES_LATER,
	[OP_MPI_PRECV_INIT] = RECEIVES_LATER,
	[OP_MPI_PUT] = SENDS,
	[OP_MPI_RPUT] = SENDS,
	[OP_MPI_ACCUMULATE] = SENDS,
	[OP_MPI_RACCUMULATE] = SENDS,
	[OP_MPI_GET_ACCUMULATE] = SENDS,
	[OP_MPI_RGET_ACCUMULATE] = SENDS,
	[OP_MPI_FETCH_AND_OP] = SENDS,
	[OP_MPI_COMPARE_AND_SWAP] = SENDS,
	[OP_MPI_GET] = FETCHES,
	[OP_MPI_RGET] = FETCHES,
	[OP_PVM_SEND] = SENDS,
	[OP_PVM_PSEND] = SENDS,
	[OP_PVM_RECV] = RECEIVES,
	[OP_PVM_TRECV] = RECEIVES,
	[OP_PVM_NRECV] = RECEIVES,
	[OP_PVM_PRECV] = RECEIVES,
};

enum message message_of(const struct tuple *tuple)
{
	const struct way *way =
		tuple->op < sizeof(ways) / sizeof(ways[0]) ? &ways[tuple->op] : NULL;

	if (!way || tuple->flags & (TUPLE_RUNNING | TUPLE_CANCELLED | TUPLE_FAILED) ||
	    tuple->peer == TUPLE_NO_PEER || tuple->peer == TUPLE_ANY_PEER)
		return MESSAGE_NONE;
	return (enum message)(tuple->flags & TUPLE_COMPLETION ? way->completion : way->call);
}

enum message message_between(const struct tuple *tuple)
{
	if (op_channel(tuple->op) != CHANNEL_P2P || op_is_pvm(tuple->op))
		return MESSAGE_NONE;
	return message_of(tuple);
}
