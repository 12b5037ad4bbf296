/* SPDX-License-Identifier: BSD-3-Clause */
/* A link: one connection between agents or agent and consumer, TLS off-host, Unix socket on-host.
 */
#ifndef EVSPACE_LINK_H
#define EVSPACE_LINK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "pathmap/base/error.h"
#include "tree/data/batch.h"
#include "tree/wire/deframer.h"
#include "tree/link/tls.h"
#include "tree/wire/wire.h"

struct link;
struct link_hub; /* tree/link/link-hub.h */

/**
 * What a link tells its owner, all from within the loop or link_hub_flush(), never from within
 * link_send() or another call of its own. After `closed` the link is gone: it is freed when the
 * callback returns. @why does not name the peer ("the agent refused: our certificate has expired;
 * …"): the owner knows where it dialled, or asks link_peer().
 */
struct link_events {
	void (*ready)(struct link *link,
		      void *arg); /* both hellos are exchanged and fit, the peer is known */
	void (*frame)(struct link *link, void *arg, const struct frame *frame);
	void (*closed)(struct link *link, void *arg, const struct error *why);
};

/**
 * Start a connection. @address is "HOST:PORT" (TLS; the peer's certificate must bear @name if not
 * NULL) or "unix:PATH". Never blocks: a name is looked up aside (tree/link/resolver.h). Failures
 * come later through `closed`, or at once as NULL with @e.
 */
struct link *link_dial(struct link_hub *hub, const char *address, const char *name,
		       const struct link_events *events, void *arg, struct error *e);

/** Whether the peer, who has dialled us, is an agent that may stand above us: what it asks may be
 * as large as what parents ask (wire_parent_limits), which else is as little as what consumers ask.
 */
void link_parent_set(struct link *link, bool is);

/** Set a link's events and their argument (from within `accepted`, or later). @events is borrowed.
 */
void link_events_set(struct link *link, const struct link_events *events, void *arg);

/**
 * Send a frame: @header packed now, @body's runs copied out now (they may be dropped afterwards);
 * @body may be NULL. It leaves at the next flush. Returns 0, or -1: more than 64 MiB wait already
 * because the peer does not read (ENOBUFS; `closed` follows at the next flush), the frame is too
 * large (EMSGSIZE), the link is not ready (ENOTCONN) or has failed (EPIPE, `closed` follows).
 */
int link_send(struct link *link, const Evspace__Frame *header, const struct batch *body);

/** Send an Error frame with @text. */
int link_send_error(struct link *link, uint32_t scope, int code, const char *text);

/**
 * link_send() what answers a question of @scope, since who asks waits: where it is more than fits
 * into a frame, an error says so, and in @text what to do.
 */
void link_reply(struct link *link, uint32_t scope, const Evspace__Frame *header,
		const struct batch *body, const char *text);

/** Ask whether anybody is there, or @answer that. */
void link_send_ping(struct link *link, bool answer);

/** Show a pass (tree/link/pass.h) with its signer's certificate, if there is one: ahead of a part
 * of a tree, which may be larger than who has none may send. */
void link_send_pass(struct link *link, ProtobufCBinaryData pass, ProtobufCBinaryData signer);

/** Who is at the other end; valid once `ready` was called. */
const struct peer *link_peer(const struct link *link);
/** Does its certificate bear @name? False for this host's sockets. */
bool link_peer_is(const struct link *link, const char *name);
const Evspace__Hello *link_hello(const struct link *link);

/** Bytes that wait to be written. */
size_t link_waiting(const struct link *link);

/** Bytes sent and received on the wire so far. */
void link_bytes(const struct link *link, uint64_t *sent, uint64_t *received);

/** Bytes of the frames that were received so far, unpacked. */
uint64_t link_unpacked(const struct link *link);

/** Is the connection slow (tree/link/link-private.h)? */
bool link_is_slow(struct link *link);

/** How many bytes of frames more it carries within @ms, as it has gone so far; SIZE_MAX if it is
 * not slow. */
size_t link_carries(struct link *link, unsigned ms);

/**
 * Close without calling `closed`, from anywhere, callbacks of the same link included. What waits is
 * written if it fits into the socket. Not after `closed`. NULL is fine.
 */
void link_close(struct link *link);

#endif
