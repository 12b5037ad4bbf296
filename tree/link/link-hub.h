/* SPDX-License-Identifier: BSD-3-Clause */
/* A hub: what all links of a process have in common. */
#ifndef EVSPACE_LINK_HUB_H
#define EVSPACE_LINK_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/link/tls.h"
#include "tree/wire/wire.h"

struct allow;
struct event_base;

/** All links of a process share a loop and an identity; what is written goes out once a round. */
struct link_hub;

/** Who this process is: for hello. */
struct link_self {
	const char *name; /* node name, "" for a consumer */
	int64_t epoch_ns; /* event-space time at CLOCK_MONOTONIC 0 */
};

/** @tls may be NULL when only Unix sockets are used. @base and @tls stay the caller's; @self is
 * copied. */
struct link_hub *link_hub_new(struct event_base *base, struct tls *tls,
			      const struct link_self *self);

/** Close all links that are left, without a word to their owners. Free the listeners before. NULL
 * is fine. */
void link_hub_free(struct link_hub *hub);

/**
 * Write out what all links hold, one send per connection. The loop does so by itself at the end of
 * every round in which something was sent; call it to have it done now, and before leaving the
 * loop.
 */
void link_hub_flush(struct link_hub *hub);

/** There is nothing to do for a while: free what only busy links need. Call it from outside of
 * links' callbacks. */
void link_hub_rest(struct link_hub *hub);

/**
 * The identity has changed: links whose peer would not be let in any more are closed. Returns how
 * many. From outside of links' callbacks.
 */
size_t link_hub_recheck(struct link_hub *hub);

/** Unix sockets that are dialled may be another user's agent's: who asks knows that and wants it.
 */
void link_hub_foreign_set(struct link_hub *hub, bool foreign);

/** When peers are to compress what they send us: on slow connections unless set. For links that are
 * made later. */
void link_hub_unpacks_set(struct link_hub *hub, enum wire_unpacks unpacks);

/** Who may observe through Unix sockets beside their owner and root; stays the caller's. */
void link_hub_allow_set(struct link_hub *hub, const struct allow *allow);

/**
 * Where to say who was not let in ("refused 10.0.0.1:4711: the peer showed no certificate; …"), at
 * most once a second for each cause, ever more seldom (once a minute) while it goes on, and of all
 * causes together no more than a rate limit. stderr unless set. All are counted.
 */
typedef void link_log(void *arg, const char *text);
void link_hub_log_set(struct link_hub *hub, link_log *log, void *arg);
unsigned long link_hub_refused(const struct link_hub *hub);

/**
 * How long a peer may take to connect, and to prove who it is, in ms: 5000 unless set. One that was
 * dialled may take twice as long for the proof. Six times as long has a question for all of a frame
 * to come, 24 times as long an answer.
 */
void link_hub_proof_set(struct link_hub *hub, unsigned ms);

#endif
