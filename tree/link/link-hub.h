/* SPDX-License-Identifier: BSD-3-Clause */
/* A hub: the common part of all links of a process. */
#ifndef EVSPACE_LINK_HUB_H
#define EVSPACE_LINK_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/link/tls.h"
#include "tree/wire/wire.h"

struct allow;
struct event_base;

/** All links of a process share a loop and an identity; output is written once in a turn of the
 * loop. */
struct link_hub;

/** Who this process is, for the hello. */
struct link_self {
	const char *name; /* node name, "" for a consumer */
	int64_t epoch_ns; /* event-space time at CLOCK_MONOTONIC 0 */
};

/** @tls may be NULL if only Unix sockets are used. Borrows @base and @tls; copies @self. */
struct link_hub *link_hub_new(struct event_base *base, struct tls *tls,
			      const struct link_self *self);

/** Close all remaining links without telling their owners. Free the listeners first. NULL is
 * fine. */
void link_hub_free(struct link_hub *hub);

/**
 * Write out what all links hold, with one send per connection. The loop does so itself at the end
 * of each turn in which something was sent; call it to write at once, and before leaving the loop.
 */
void link_hub_flush(struct link_hub *hub);

/** Free what only busy links need, as there is nothing to do for a while. Do not call it from
 * links' callbacks. */
void link_hub_rest(struct link_hub *hub);

/** The identity has changed: close the links whose peers are not accepted any more. Returns how
 * many. Do not call it from links' callbacks. */
size_t link_hub_recheck(struct link_hub *hub);

/** Accept that a dialled Unix socket belongs to another user's agent, for callers that expect
 * that. */
void link_hub_foreign_set(struct link_hub *hub, bool foreign);

/** When peers compress what they send us, for links made later. Default: on slow connections. */
void link_hub_unpacks_set(struct link_hub *hub, enum wire_unpacks unpacks);

/** Who may observe through Unix sockets besides their owner and root; borrowed. */
void link_hub_allow_set(struct link_hub *hub, const struct allow *allow);

/**
 * Where to log refused peers ("refused 10.0.0.1:4711: the peer showed no certificate; …"), stderr
 * by default. A cause is logged once a second at most, and less and less often, down to once a
 * minute, while it goes on; all causes together are subject to a rate limit. link_hub_refused()
 * counts all.
 */
typedef void link_log(void *arg, const char *text);
void link_hub_log_set(struct link_hub *hub, link_log *log, void *arg);
unsigned long link_hub_refused(const struct link_hub *hub);

/**
 * How long a peer may take to connect, and to prove who it is, in ms; 5000 by default. A dialled
 * one may take twice as long for the proof. All of a frame must arrive within 6 times as long for a
 * question, 24 times as long for an answer.
 */
void link_hub_proof_set(struct link_hub *hub, unsigned ms);

#endif
