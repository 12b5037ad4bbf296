/* SPDX-License-Identifier: BSD-3-Clause */
/* The inside of a hub, for the files of links alone. */
#ifndef EVSPACE_LINK_HUB_PRIVATE_H
#define EVSPACE_LINK_HUB_PRIVATE_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <netinet/in.h>

#include "tree/data/arena.h"
#include "tree/data/schedule.h"
#include "tree/link/link-hub.h"
#include "tree/link/rate-limit.h"
#include "tree/link/resolver.h"
#include "tree/link/address.h"

struct link;

#define LOBBY_PLACES 64u
#define LOBBY_KNOWN  64u

/** Accepted links without proof of who they are. Plain data, for lobby_init(). */
struct lobby {
	TAILQ_HEAD(, link) links; /* the oldest first */
	unsigned n;
	struct in6_addr known[LOBBY_KNOWN]; /* origins of the last peers that proved who they are */
	unsigned n_known;
};

void lobby_init(struct lobby *lobby);

/** The address of a peer: IPv4 is mapped, zeros mean a Unix socket. */
struct in6_addr lobby_origin(const union address_any *from);

/** How many links from that address are in the lobby. */
unsigned lobby_from(const struct lobby *lobby, const struct in6_addr *origin);

/**
 * Is there a place for a link from @origin? If all are taken, *@victim is the link that must leave
 * first, or NULL if none must: the oldest of those with the largest share of places, by address and
 * by network (a /24; a /48 of IPv6, where a /64 counts as an address), provided that the new one's
 * share would be smaller. So a flooder takes places from itself. KNOWN_BONUS links from a known
 * address do not count.
 */
bool lobby_place(const struct lobby *lobby, const struct in6_addr *origin, struct link **victim);

/** @link, whose origin is set, takes or leaves a place. */
void lobby_enter(struct lobby *lobby, struct link *link);
void lobby_leave(struct lobby *lobby, struct link *link);

/** A peer from @origin has proved who it is. */
void lobby_know(struct lobby *lobby, const struct in6_addr *origin);

struct link;

/** What a link may send, and which budget its incomplete frames count for. */
enum link_part {
	PART_CONSUMER, /* it dialled us, and asks what consumers ask, unless it turns out to be … */
	PART_PARENT,   /* … an agent that may stand above us */
	PART_CHILD,    /* we dialled it; it answers */
	LINK_PARTS,
};

/** A text of refusal, so that it is not logged more than once a second. */
struct refusal {
	char text[160];
	uint64_t said_ns, pause_ns; /* when; how long it is not logged again */
	unsigned long unsaid;
};

#define REFUSALS 16

struct link_hub {
	struct event_base *base;
	struct tls *tls;
	char *name, boot_id[64];
	struct schedule_process process; /* this one */
	int64_t epoch_ns;
	struct event flush; /* active while the queue is not empty: runs last in a turn of the
			     * loop */
	TAILQ_HEAD(link_queue, link) queue;
	LIST_HEAD(link_list, link) links, dead;
	struct event turn; /* pending while links are paused */
	TAILQ_HEAD(link_paused, link) paused;
	unsigned n_paused;
	struct resolver *resolver;
	struct arena arena;
	unsigned char *scratch;	       /* LINK_RECEIVE bytes, made when first needed */
	size_t unfinished[LINK_PARTS]; /* bytes of incomplete frames */
	unsigned calls;		       /* callbacks under way: while there are any, nothing is
					* freed */
	bool flushing;
	unsigned proof_ms;
	link_log *log;
	void *log_arg;
	struct refusal refusals[REFUSALS];
	struct rate_limit rationed; /* for causes without an entry, so that invented ones do not
				     * fill the log */
	bool foreign;
	enum wire_unpacks unpacks;
	const struct allow *allow;
	unsigned long refused;
};

void hub_queue(struct link_hub *hub, struct link *link);
void hub_unqueue(struct link_hub *hub, struct link *link);
/** Log that a peer was refused, unless the same was logged within the last second. */
void hub_refused(struct link_hub *hub, const char *where, const struct error *why);

#endif
