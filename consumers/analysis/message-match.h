/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: sends matched to receives as their events stream in. Pure. */
#ifndef EVSPACE_MESSAGE_MATCH_H
#define EVSPACE_MESSAGE_MATCH_H

#include "consumers/analysis/meeting.h"

/** Messages with the same key do not overtake each other (MPI-3.1 3.5). Ranks are world ranks. */
struct message_key {
	uint32_t comm, tag;
	int32_t from, to;
};

/** What one side of a message has done. */
struct message_side {
	struct arrival at; /* from the call that sends on; from when it was to be received on, until
			    * it was */
	int64_t since_ns;  /* of a receive: when its thread began to wait for it */
	bool waits; /* a send whose call may wait for the receiver, a receive with since_ns */
	bool later; /* received by a request: its thread waits for it in another call, by whose
		     * begin since_ns is to be known (message-wait.h) */
	uint32_t thread;
};

/** Gets each message once. */
typedef void message_take(void *arg, const struct message_key *key, const struct message_side *sent,
			  const struct message_side *received);

struct message_counts {
	uint64_t matched;
	uint64_t open;	  /* sides that have not met their other side yet, or never will */
	uint64_t lost;	  /* sides of ranks of which events are missing */
	uint64_t strange; /* sides whose order contradicts times or sizes, and what comes after */
	uint64_t crowded; /* sides that were given up as too many were open */
};

struct message_match;

/** None yet; at most @most sides are kept (1 MB for 10,000). */
struct message_match *message_match_new(size_t most, message_take *take, void *arg);
void message_match_free(struct message_match *match);

/** A side has come. Those of one thread come in the order of their ends, of different elements
 * within a turn. */
void message_match_add(struct message_match *match, const struct message_key *key, bool received,
		       const struct message_side *side);

/** Events of this rank are missing: from now on none of its messages is told, as it could be
 * another one. */
void message_match_lost(struct message_match *match, int32_t rank);

/** @from has sent a message with this tag, and to whom is not known: from now on nothing is told of
 * what it sends with that. */
void message_match_untold(struct message_match *match, uint32_t comm, uint32_t tag, int32_t from);

/** All that elements held a moment ago has come (a wave that has left nothing). */
void message_match_turn(struct message_match *match);

/** Nothing more comes. */
void message_match_end(struct message_match *match);

const struct message_counts *message_match_counts(const struct message_match *match);

#endif
