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
 * What a link tells its owner: always from the loop or link_hub_flush(), never from within a call
 * of the owner's such as link_send(). The link is freed when `closed` returns. @why does not name
 * the peer ("the agent refused: our certificate has expired; …"): the owner knows where it dialled,
 * or asks link_peer().
 */
struct link_events {
	void (*ready)(struct link *link,
		      void *arg); /* both hellos are exchanged and fit, the peer is known */
	void (*frame)(struct link *link, void *arg, const struct frame *frame);
	void (*closed)(struct link *link, void *arg, const struct error *why);
};

/** From within `frame`, which is not done with the frame: hand out the same one again, before any
 * other, in a later turn of the loop (tree/data/turn.h). */
void link_frame_again(struct link *link);

/**
 * Start a connection. @address is "HOST:PORT" (TLS; the peer's certificate must have the name @name
 * if not NULL) or "unix:PATH". Never blocks: a name is looked up in a thread
 * (tree/link/resolver.h). Failures come later through `closed`, or at once as NULL with @e.
 */
struct link *link_dial(struct link_hub *hub, const char *address, const char *name,
		       const struct link_events *events, void *arg, struct error *e);

/** Say whether the peer, which dialled us, is an agent that may stand above us: then its questions
 * may be as large as those of parents (wire_parent_limits), else only as large as those of
 * consumers. */
void link_parent_set(struct link *link, bool is);

/** Set a link's events and their argument (from within `accepted`, or later). Borrows @events. */
void link_events_set(struct link *link, const struct link_events *events, void *arg);

/**
 * Send a frame: packs @header and copies @body's runs, so that both may be freed; @body may be
 * NULL. It leaves at the next flush. Returns 0, or -1: more than 64 MiB wait already, since the
 * peer does not read (ENOBUFS; `closed` follows at the next flush), the frame is too large
 * (EMSGSIZE), the link is not ready (ENOTCONN) or has failed (EPIPE; `closed` follows).
 */
int link_send(struct link *link, const Evspace__Frame *header, const struct batch *body);

/** Send an Error frame with @text. */
int link_send_error(struct link *link, uint32_t scope, int code, const char *text);

/** link_send() for the answer to a question of @scope, as the peer waits for it: if the answer does
 * not fit into a frame, sends an error with @text instead, which says what to do. */
void link_reply(struct link *link, uint32_t scope, const Evspace__Frame *header,
		const struct batch *body, const char *text);

/** Ask whether the peer is there, at @now_ns (CLOCK_MONOTONIC): it answers with that and its own
 * times. */
void link_send_ping(struct link *link, uint64_t now_ns);

/** Answer the ping @asked, which was just received. */
void link_send_pong(struct link *link, const Evspace__Ping *asked);

/** When the frame that is handed out had been received, as the kernel says (CLOCK_MONOTONIC). */
uint64_t link_came_ns(struct link *link);

/** When the last ping was given to the socket, or made, if it was not yet. */
uint64_t link_left_ns(const struct link *link);

/** Show a pass (tree/link/pass.h) with its signer's certificate, if any: before the part of a tree
 * that may be larger than a peer without a pass may send. */
void link_send_pass(struct link *link, ProtobufCBinaryData pass, ProtobufCBinaryData signer);

/** Who is at the other end; valid from `ready` on. */
const struct peer *link_peer(const struct link *link);
/** Does its certificate have the name @name? False for Unix sockets. */
bool link_peer_is(const struct link *link, const char *name);
const Evspace__Hello *link_hello(const struct link *link);
/** May it be sent runs as columns (tree/data/columns.h), and folded parts (tree/data/part.h)? */
bool link_takes_columns(const struct link *link);

/** Does the other side know samples, and what was sampled out? */
bool link_takes_samples(const struct link *link);

/** Bytes that wait to be written. */
size_t link_waiting(const struct link *link);

/** Bytes sent and received on the wire so far. */
void link_bytes(const struct link *link, uint64_t *sent, uint64_t *received);

/** Bytes of the frames received so far, unpacked. */
uint64_t link_unpacked(const struct link *link);

/** Is the connection slow (tree/link/link-private.h)? */
bool link_is_slow(struct link *link);

/** How many more bytes of frames it carries within @ms, by its speed so far; SIZE_MAX if it is not
 * slow. */
size_t link_carries(struct link *link, unsigned ms);

/** Does the other side's kernel acknowledge what we send? Always true if it is not TCP. It does so
 * for a process that does not run as well. */
bool link_is_acknowledged(const struct link *link);

/** Is the peer on this host, by the boot id? In another time namespace it has another clock. */
bool link_is_of_host(const struct link *link);

/** The state of the process at the other end (schedule_state()), an agent of this host; '?' if it
 * is none. */
char link_peer_state(const struct link *link);

/** Close without calling `closed`, from anywhere, also from the link's own callbacks. Writes what
 * waits if it fits into the socket. Not after `closed`. NULL is fine. */
void link_close(struct link *link);

#endif
