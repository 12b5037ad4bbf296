/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are waited for in another call than they are received by: which call that was, in
 * whatever order both come. Pure. */
#ifndef EVSPACE_MESSAGE_WAIT_H
#define EVSPACE_MESSAGE_WAIT_H

#include "consumers/analysis/message-match.h"

/** Gets each message once, with `waits` and `since_ns` of the side that was received. */
typedef void message_waits_take(void *arg, uint32_t comm, const struct message_side *sent,
				const struct message_side *received);

struct message_waits;

/** None yet. Some @calls are remembered (16 MB for a million), those of each thread that ended
 * last, and @messages that look for theirs (2 MB for 10,000). */
struct message_waits *message_waits_new(size_t calls, size_t messages, message_waits_take *take,
					void *arg);

/** NULL is fine. Messages that have not been told are not told. */
void message_waits_free(struct message_waits *waits);

/** A call of @thread that waits for what has ended with it. Threads are numbered from 0. */
void message_waits_call(struct message_waits *waits, uint32_t thread, int64_t start_ns,
			int64_t end_ns);

/** A message that was received `later`, with its sides. It is told at once or later. */
void message_waits_add(struct message_waits *waits, uint32_t comm, const struct message_side *sent,
		       const struct message_side *received);

/** Some calls have come: tell of messages that waited in them. */
void message_waits_turn(struct message_waits *waits);

/** Nothing more comes: tell of all others, of which nobody knows. */
void message_waits_end(struct message_waits *waits);

/** Messages that were told so: the calls that have waited for them were not recorded, or
 * overwritten. */
uint64_t message_waits_unknown(const struct message_waits *waits);

#endif
