/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts who is in the lobby by where they are from. */
#include "tree/link/lobby.h"

#include <string.h>

#include "tree/link/link-private.h"

/* Places that those from a known address have before they count. */
#define KNOWN_BONUS 16u

void lobby_init(struct lobby *l)
{
	*l = (struct lobby){.n = 0};
	TAILQ_INIT(&l->links);
}

struct in6_addr lobby_origin(const union address_any *from)
{
	struct in6_addr origin = {0};

	if (from->any.sa_family == AF_INET6) {
		origin = from->in6.sin6_addr;
	} else if (from->any.sa_family == AF_INET) {
		origin.s6_addr[10] = origin.s6_addr[11] = 0xff;
		memcpy(&origin.s6_addr[12], &from->in4.sin_addr, 4);
	}
	return origin;
}

static bool is_ipv4(const struct in6_addr *a, const struct in6_addr *b)
{
	return IN6_IS_ADDR_V4MAPPED(a) || IN6_IS_ADDR_V4MAPPED(b);
}

static bool same_address(const struct in6_addr *a, const struct in6_addr *b)
{
	return memcmp(a, b, is_ipv4(a, b) ? 16 : 8) == 0;
}

static bool same_prefix(const struct in6_addr *a, const struct in6_addr *b)
{
	return memcmp(a, b, is_ipv4(a, b) ? 15 : 6) == 0;
}

static bool is_known(const struct lobby *l, const struct in6_addr *origin)
{
	for (unsigned i = 0; i < LOBBY_KNOWN && i < l->n_known; i++) {
		if (same_address(&l->known[i], origin))
			return true;
	}
	return false;
}

unsigned lobby_from(const struct lobby *l, const struct in6_addr *origin)
{
	const struct link *link;
	unsigned n = 0;

	TAILQ_FOREACH (link, &l->links, lobby_entry)
		n += same_address(origin, &link->origin);
	return n;
}

static unsigned share(const struct lobby *l, const struct in6_addr *origin)
{
	unsigned n = lobby_from(l, origin), bonus = is_known(l, origin) ? KNOWN_BONUS : 0;
	const struct link *link;

	TAILQ_FOREACH (link, &l->links, lobby_entry)
		n += same_prefix(origin, &link->origin);
	return n > bonus ? n - bonus : 0;
}

bool lobby_place(const struct lobby *l, const struct in6_addr *origin, struct link **victim)
{
	unsigned most = share(l, origin) + 2, n; /* with this one */
	struct link *link;

	*victim = NULL;
	if (l->n < LOBBY_PLACES)
		return true;
	TAILQ_FOREACH (link, &l->links, lobby_entry) {
		n = share(l, &link->origin);
		if (n <= most)
			continue;
		most = n;
		*victim = link;
	}
	return *victim != NULL;
}

void lobby_enter(struct lobby *l, struct link *link)
{
	TAILQ_INSERT_TAIL(&l->links, link, lobby_entry);
	l->n++;
}

void lobby_leave(struct lobby *l, struct link *link)
{
	TAILQ_REMOVE(&l->links, link, lobby_entry);
	l->n--;
}

void lobby_know(struct lobby *l, const struct in6_addr *origin)
{
	if (!is_known(l, origin))
		l->known[l->n_known++ % LOBBY_KNOWN] = *origin;
}
