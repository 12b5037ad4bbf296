/* SPDX-License-Identifier: BSD-3-Clause */
/* A link: one connection between agents or agent and consumer, TLS off-host, Unix socket on-host. */
#ifndef EVSPACE_LINK_H
#define EVSPACE_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pathmap/error.h"
#include "tree/batch.h"
#include "tree/tls.h"
#include "tree/wire.h"

struct event_base;
struct link;

/** All links of a process share a loop and an identity; what is written goes out once a round. */
struct link_hub;

/** A frame that came in. Valid during the callback; keep the body by taking a reference on its buffer. */
struct frame {
	const Evspace__Frame *header;
	struct buffer *buffer; /* NULL when there is no body */
	size_t at, bytes;      /* the body, already in native byte order and checked (batch_check) */
};

/** What a link tells its owner. After `closed` the link is gone: it is freed when the callback returns. */
struct link_events {
	void (*ready)(struct link *link, void *arg); /* both hellos are exchanged and fit, the peer is known */
	void (*frame)(struct link *link, void *arg, const struct frame *frame);
	void (*closed)(struct link *link, void *arg, const struct error *why);
};

/** Who this process is: for hello. */
struct link_self {
	const char *name; /* node name, "" for a consumer */
	int64_t epoch_ns; /* event-space time at CLOCK_MONOTONIC 0 */
};

/** @tls may be NULL when only Unix sockets are used. Both stay the caller's. */
struct link_hub *link_hub_new(struct event_base *base, struct tls *tls, const struct link_self *self);
void link_hub_free(struct link_hub *hub);

/**
 * Write out what all links hold, one send per connection. Call once per round of the loop, after
 * event_base_loop(base, EVLOOP_ONCE).
 */
void link_hub_flush(struct link_hub *hub);

/**
 * Start a connection. @address is "HOST:PORT" (TLS; the peer's certificate must bear @name if not NULL)
 * or "unix:PATH". Never blocks (names are resolved before: numeric or through getaddrinfo at start).
 * Failures come later through `closed`, or at once as NULL with @e.
 */
struct link *link_dial(struct link_hub *hub, const char *address, const char *name,
		       const struct link_events *events, void *arg, struct error *e);

/** A listening socket. Accepted links call @accepted to get their owner's events; at most 64 of them may
    be without proof of who they are, 5 s each (DESIGN 7). */
struct link_listener;
typedef void link_accepted(struct link *link, void *arg);
struct link_listener *link_listen(struct link_hub *hub, const char *address,
				  link_accepted *accepted, void *arg, struct error *e);
/** The port that was bound (for address "HOST:0"), 0 for a Unix socket. */
unsigned link_listener_port(const struct link_listener *listener);
void link_listener_free(struct link_listener *listener);

/** Set a link's events and their argument (from within `accepted`, or later). */
void link_events_set(struct link *link, const struct link_events *events, void *arg);

/**
 * Send a frame: @header packed now, @body's runs copied out now (they may be dropped afterwards);
 * @body may be NULL. It leaves at the next flush. Returns 0, or -1 when more than the limit is waiting
 * already because the peer does not read (ENOBUFS): the link is then closed.
 */
int link_send(struct link *link, const Evspace__Frame *header, const struct batch *body);

/** Send an Error frame with @text. */
int link_send_error(struct link *link, uint32_t scope, int code, const char *text);

/** Who is at the other end; valid once `ready` was called. */
const struct peer *link_peer(const struct link *link);
const Evspace__Hello *link_hello(const struct link *link);

/** Bytes that wait to be written. */
size_t link_waiting(const struct link *link);

/** Bytes sent and received on the wire so far. */
void link_bytes(const struct link *link, uint64_t *sent, uint64_t *received);

/** Close without calling `closed`. What waits is flushed if it fits into the socket. NULL is fine. */
void link_close(struct link *link);

#endif
