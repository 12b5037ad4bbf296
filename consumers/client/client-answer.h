/* SPDX-License-Identifier: BSD-3-Clause */
/* An answer of a scope, from the ask until its wave is taken, and how many of them there may be. */
#ifndef EVSPACE_CLIENT_ANSWER_H
#define EVSPACE_CLIENT_ANSWER_H

#include <stdbool.h>
#include <sys/queue.h>

#include "consumers/client/delivery.h"
#include "consumers/client/evspace-wave.h"
#include "tree/data/batch.h"

/** Least number of tuples that a leaf may bring in a wave. */
#define CLIENT_ROOM_LEAST 64u

/** Most waves under way: as many as a gather has slots … */
#define CLIENT_WINDOW_MAX 64u

/** … and of streams, and of repeated asks: leaves remember 63 waves that the consumer lacks. */
#define CLIENT_WINDOW_STREAM 32u

/** Most bytes of answers that wait to be taken: so much of what peers send is held, packed as it
 * came. Further ones are as if no host had answered them. */
#define CLIENT_HELD_MOST (2 * (size_t)BATCH_PLAIN_MOST)

/** An answer that is expected, or came and was not taken yet. */
struct client_answer {
	STAILQ_ENTRY(client_answer) entry; /* in the list of repeated ones */
	bool here;
	bool sure; /* see evspace-wave.h */
	uint64_t asked_ns;
	uint32_t fill, riders; /* see Answer in wire.proto */
	struct evspace_wave wave;
	struct delivery_sums sums;
	struct batch batch; /* packed as it came, until it is taken */
	size_t held;	    /* of CLIENT_HELD_MOST */
	struct evspace_missing *missing;
};

#endif
