/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of links share: a link's inside, and who does what to it. Nobody else includes
 * this. */
#ifndef EVSPACE_LINK_PRIVATE_H
#define EVSPACE_LINK_PRIVATE_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/link/address.h"
#include "tree/link/allow.h"
#include "tree/link/link-hub-private.h"
#include "tree/link/listener.h"
#include "tree/wire/packer.h"
#include "tree/link/resolver.h"
#include "tree/link/transport.h"

/** What is known of one connection. Plain data, zeroed at first. */
struct speed {
	uint64_t looked_ns; /* CLOCK_MONOTONIC, 0: never yet */
	uint64_t slow_ns;   /* when it was found slow last */
	uint64_t rate;	    /* bytes/s that arrived of late, when the connection was busy */
	bool slow;
};

#define LINK_WAITING_MAX (64u << 20)  /* nobody may make us hold more than this for him */
#define LINK_RECEIVE	 (256u << 10) /* what one recv() brings at most */
/* … where it may be compressed, or only questions are expected: 32 bytes can be a piece of 128 KiB,
 * and a question much work. Between two recv() others have their turn. */
#define LINK_RECEIVE_LITTLE (4u << 10)

enum link_state {
	LINK_CONNECTING,
	LINK_HANDSHAKE,
	LINK_HELLO, /* the peer's hello is awaited, ours is on its way */
	LINK_READY,
	LINK_FAILED,	/* `why` is to be reported at the next flush */
	LINK_LINGERING, /* all said; read on until the other side has read it, too */
	LINK_DEAD,	/* freed at the end of the next flush */
};

struct link {
	struct link_hub *hub;
	LIST_ENTRY(link) entry;
	TAILQ_ENTRY(link) queued_entry; /* in the hub's queue: it is due at the flush */
	bool queued;
	TAILQ_ENTRY(link) paused_entry;
	bool paused;	   /* among those whose frames wait for the next round */
	bool refused;	   /* we ended it */
	unsigned proof_ms; /* how long it may take to say who it is */
	enum link_state state;
	enum link_part part;
	const struct link_events *events; /* never NULL */
	void *arg;
	struct transport transport;
	struct deframer deframer;
	struct speed speed;
	struct packer *packer; /* while frames are compressed, else NULL */
	size_t unfinished;     /* as it is counted in the hub */
	uint64_t frames;       /* when the timer began that says how long one may take */
	struct event readable, writable, timer;
	struct link_listener *listener; /* accepted, not yet proven: it holds one of its places */
	TAILQ_ENTRY(link) lobby_entry;
	struct in6_addr origin; /* there: where it is from (tree/link/link-hub-private.h) */
	struct address *to;	/* dialled: where to, and which of them is tried */
	size_t tried;
	struct resolver_wait lookup; /* while that is not known */
	char *address;		     /* dialled: as it was said */
	char *expect;		     /* dialled: the node that should be there, or NULL */
	struct peer peer;
	Evspace__Frame *hello;
	struct error why;
	struct error said; /* the peer's last Error frame about the connection as a whole */
};

/* link.c: life */
struct link *link_new(struct link_hub *hub);
void link_timer_set(struct link *link, unsigned ms);
void link_fail(struct link *link, const struct error *why);
/** Does more wait for a peer that does not read than it may? The link has failed then. */
bool link_crowded(struct link *link);
/** Send an Error frame with the text of @why, then fail with it. */
void link_refuse(struct link *link, int code, const struct error *why);
void link_bury(struct link *link);
/** At the flush: report, write or free, whatever is due. */
void link_work(struct link *link);
/** How the other side is called in texts. */
const char *link_noun(const struct link *link);

/* link-pack.c */
/** Add a frame to what is to be sent; @body may be NULL. */
void link_put(struct link *link, const struct wire_front *front, const Evspace__Frame *header,
	      const struct batch *body);
/** Frames are not compressed for a while: free what that takes, here and at the other side. */
void link_pack_end(struct link *link);

/* link-io.c: what the loop calls */
void link_readable(evutil_socket_t fd, short what, void *arg);
void link_writable(evutil_socket_t fd, short what, void *arg);
void link_timeout(evutil_socket_t fd, short what, void *arg);
/** What has come and was not handed out, nobody wants any more. */
void link_unpause(struct link *link);
/** The next round has begun: go on with the links that are paused. */
void hub_turn(evutil_socket_t fd, short what, void *arg);
/** Write what waits; what does not fit follows when the socket has room. */
void link_flush(struct link *link);
/** What may be sent by who plays the link's part. */
void link_limits_set(struct link *link);
/** Frames that are not whole are given up, and the memory that they take. */
void link_forget(struct link *link);
/** Let the loop look at the link's socket. */
void link_watch(struct link *link);
/** The socket is connected: shake hands, or say hello. */
void link_connected(struct link *link);

/* link-dial.c */
/** Try the next address. Returns 0, or -1 with @e when there is none left. */
int link_dial_next(struct link *link, struct error *e);

/* link-hello.c */
void link_hello_send(struct link *link);
/** The first frame came: check it, then the link is ready or refused. */
void link_hello_received(struct link *link, const struct frame *frame);

/* listener.c */
/** An accepted link has proved itself, or is gone: its place is free again. */
void listener_release(struct link_listener *listener, struct link *link);
/** Hand a proven link over to the owner of its listener. */
void listener_accepted(struct link_listener *listener, struct link *link);
/** Takes over @fd, a connected TCP socket without delays. */
void socket_tune(int fd);

#endif
