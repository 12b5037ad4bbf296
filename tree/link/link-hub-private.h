/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of links share: a hub's inside. Nobody else includes this. */
#ifndef EVSPACE_LINK_HUB_PRIVATE_H
#define EVSPACE_LINK_HUB_PRIVATE_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <netinet/in.h>

#include "tree/data/arena.h"
#include "tree/link/link-hub.h"
#include "tree/link/rate-limit.h"
#include "tree/link/resolver.h"
#include "tree/link/address.h"

struct link;

#define LOBBY_PLACES 64u
#define LOBBY_KNOWN  64u

/** Plain data, begun by lobby_init(). */
struct lobby {
	TAILQ_HEAD(, link) links; /* the oldest first */
	unsigned n;
	struct in6_addr known[LOBBY_KNOWN]; /* from where the last ones came that have proved it */
	unsigned n_known;
};

void lobby_init(struct lobby *lobby);

/** From where somebody comes: IPv4 is mapped, zeros are this host's socket. */
struct in6_addr lobby_origin(const union address_any *from);

/** How many are there from that address. */
unsigned lobby_from(const struct lobby *lobby, const struct in6_addr *origin);

/**
 * Is there a place for one from @origin? If all are taken, *@victim is the oldest of those that
 * have the largest share of them, by address and by what is near it (a /24; of IPv6 a /64 is an
 * address, and a /48 near), if this one would have less: it must leave first. So who floods takes
 * places from himself. Some of those from known addresses do not count. *@victim is NULL if nobody
 * must leave.
 */
bool lobby_place(const struct lobby *lobby, const struct in6_addr *origin, struct link **victim);

/** @link, whose origin is set, takes a place, or leaves it. */
void lobby_enter(struct lobby *lobby, struct link *link);
void lobby_leave(struct lobby *lobby, struct link *link);

/** Somebody from there has proved who he is. */
void lobby_know(struct lobby *lobby, const struct in6_addr *origin);

struct link;

/** What a link may send, and with whom it shares the memory for frames that are not whole. */
enum link_part {
	PART_CONSUMER, /* who dialled us: asks what consumers ask, unless it is found to be a */
	PART_PARENT,   /* … an agent that may stand above us */
	PART_CHILD,    /* we have dialled it: it answers */
	LINK_PARTS,
};

/** One text of refusal, so that it is not said more than once a second. */
struct refusal {
	char text[160];
	uint64_t said_ns, pause_ns; /* when; how long it is not said again */
	unsigned long unsaid;
};

#define REFUSALS 16

struct link_hub {
	struct event_base *base;
	struct tls *tls;
	char *name, boot_id[64];
	int64_t epoch_ns;
	struct event flush; /* active while the queue is not empty: runs last in a round */
	TAILQ_HEAD(link_queue, link) queue;
	LIST_HEAD(link_list, link) links, dead;
	struct event turn; /* due while some links are paused */
	TAILQ_HEAD(link_paused, link) paused;
	unsigned n_paused;
	struct resolver *resolver;
	struct arena arena;
	unsigned char *scratch;	       /* LINK_RECEIVE bytes, made when first needed */
	size_t unfinished[LINK_PARTS]; /* bytes of frames that are not whole */
	unsigned calls;		       /* callbacks under way: nothing is freed */
	bool flushing;
	unsigned proof_ms;
	link_log *log;
	void *log_arg;
	struct refusal refusals[REFUSALS];
	struct rate_limit
		rationed; /* of causes that are not in there: who invents them fills no log */
	bool foreign;
	enum wire_unpacks unpacks;
	const struct allow *allow;
	unsigned long refused;
};

void hub_queue(struct link_hub *hub, struct link *link);
void hub_unqueue(struct link_hub *hub, struct link *link);
/** Log that somebody was not let in, unless the same was said within the last second. */
void hub_refused(struct link_hub *hub, const char *where, const struct error *why);

#endif
