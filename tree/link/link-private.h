/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a link, and functions on it, for the files of links alone. */
#ifndef EVSPACE_LINK_PRIVATE_H
#define EVSPACE_LINK_PRIVATE_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/link/address.h"
#include "tree/link/link-hub-private.h"
#include "tree/link/listener.h"
#include "tree/wire/packer.h"
#include "tree/link/resolver.h"
#include "tree/link/transport.h"

/** The speed of one connection. Plain data, zeroed at first. */
struct speed {
	uint64_t looked_ns; /* CLOCK_MONOTONIC, 0: never yet */
	uint64_t slow_ns;   /* when it was last found slow */
	uint64_t rate;	    /* bytes/s that arrived recently, while the connection was busy */
	bool slow;
};

#define LINK_WAITING_MAX (64u << 20)  /* most bytes waiting for one peer that does not read */
#define LINK_RECEIVE	 (256u << 10) /* most bytes of one recv() */
/* … if they may be compressed, or are questions: 32 bytes can be a piece of 128 KiB, and a question
 * much work. Other links go on between two recv(). */
#define LINK_RECEIVE_LITTLE (4u << 10)

enum link_state {
	LINK_CONNECTING,
	LINK_HANDSHAKE,
	LINK_HELLO, /* ours is sent, the peer's has not come */
	LINK_READY,
	LINK_FAILED,	/* `why` is reported at the next flush */
	LINK_LINGERING, /* all is sent; reads on until the other side has read it, too */
	LINK_DEAD,	/* freed at the end of the next flush */
};

struct link {
	struct link_hub *hub;
	LIST_ENTRY(link) entry;
	TAILQ_ENTRY(link) queued_entry; /* in the hub's queue, to be handled at the flush */
	bool queued;
	TAILQ_ENTRY(link) paused_entry;
	bool paused; /* one of those whose frames wait for the next turn */
	bool again;  /* … of which `current` is the first, as its receiver asked for */
	struct frame current;
	Evspace__Frame *kept; /* its header, when it is to be handed out again; else NULL */
	bool refused;	      /* we closed it */
	unsigned proof_ms;    /* how long the peer may take to prove who it is */
	enum link_state state;
	enum link_part part;
	const struct link_events *events; /* never NULL */
	void *arg;
	struct transport transport;
	struct deframer deframer;
	struct speed speed;
	struct packer *packer; /* while frames are compressed, else NULL */
	size_t unfinished;     /* as counted in the hub */
	uint64_t came_ns;      /* when bytes were last taken from the socket */
	uint64_t frames;       /* deframer's count when the timer for incomplete frames was set */
	struct event readable, writable, timer;
	struct link_listener *listener; /* accepted, without proof yet: it holds a place of this
					 * one */
	TAILQ_ENTRY(link) lobby_entry;
	struct in6_addr origin; /* its origin for the lobby (tree/link/link-hub-private.h) */
	struct address *to;	/* dialled: the addresses, and how many of them were tried */
	size_t tried;
	struct resolver_wait lookup; /* while the address is unknown */
	char *address;		     /* dialled: as the caller wrote it */
	char *expect;		     /* dialled: the node that is expected, or NULL */
	struct peer peer;
	Evspace__Frame *hello;
	struct error why;
	struct error said; /* the peer's last Error frame about the connection as a whole */
};

/* link.c: life */
struct link *link_new(struct link_hub *hub);
void link_timer_set(struct link *link, unsigned ms);
void link_fail(struct link *link, const struct error *why);
/** Do more bytes wait for a peer that does not read than allowed? The link has failed then. */
bool link_crowded(struct link *link);
/** Send an Error frame with the text of @why, then fail with it. */
void link_refuse(struct link *link, int code, const struct error *why);
void link_bury(struct link *link);
/** At the flush: report, write or free, whatever is due. */
void link_work(struct link *link);
/** What the other side is called in texts. */
const char *link_noun(const struct link *link);

/* link-pack.c */
/** Queue a frame for sending, whose front and header are the @bytes at @head; @body may be NULL. */
void link_put(struct link *link, const unsigned char *head, size_t bytes, const struct batch *body);
/** Frames are not compressed for a while: free the memory for that, here and at the other side. */
void link_pack_end(struct link *link);

/* link-io.c: what the loop calls */
void link_readable(evutil_socket_t fd, short what, void *arg);
void link_writable(evutil_socket_t fd, short what, void *arg);
void link_timeout(evutil_socket_t fd, short what, void *arg);
/** Free the header that was kept. */
void link_frame_forget(struct link *link);
/** Drop received frames that were not handed out, since nobody wants them. */
void link_unpause(struct link *link);
/** Go on with the paused links in a new turn of the loop. */
void hub_turn(evutil_socket_t fd, short what, void *arg);
/** Write what waits; the rest follows when the socket has room. */
void link_flush(struct link *link);
/** Set what the peer may send, by the link's part. */
void link_limits_set(struct link *link);
/** Drop incomplete frames, and free their memory. */
void link_forget(struct link *link);
/** Let the loop watch the link's socket. */
void link_watch(struct link *link);
/** The socket is connected: begin the handshake, or say hello. */
void link_connected(struct link *link);

/* link-dial.c */
/** Try the next address. Returns 0, or -1 with @e if there is none left. */
int link_dial_next(struct link *link, struct error *e);

/* link-hello.c */
void link_hello_send(struct link *link);
/** The first frame came: check it; then the link is ready or refused. */
void link_hello_received(struct link *link, const struct frame *frame);

/* listener.c */
/** An accepted link has proved itself, or is closed: free its place. */
void listener_release(struct link_listener *listener, struct link *link);
/** Give a proven link to the owner of its listener. */
void listener_accepted(struct link_listener *listener, struct link *link);
/** Set up @fd, a connected TCP socket: no delays, and keep-alive. */
void socket_tune(int fd);

#endif
