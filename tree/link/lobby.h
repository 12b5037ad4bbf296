/* SPDX-License-Identifier: BSD-3-Clause */
/* A lobby: the places that accepted links have until they have proved who they are, and who gives
 * his up for whom. Files of links only. */
#ifndef EVSPACE_LOBBY_H
#define EVSPACE_LOBBY_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/queue.h>

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

#endif
