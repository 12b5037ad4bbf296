/* SPDX-License-Identifier: BSD-3-Clause */
/* The hub: shared by all links of a process; writes them all at the end of a turn of the loop. */
#include "tree/link/link-private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

#define PROOF_MS 5000u
/* Most memory for the unpacked header of one frame. */
#define HEADER_MEMORY (64u << 20)
#define SAY_AGAIN_NS  UINT64_C(1000000000)
#define SAY_SELDOM_NS (60 * SAY_AGAIN_NS)

static void log_stderr(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "evspace: %s\n", text);
}

static void boot_id_read(char *id, size_t room)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(id, (int)room, file))
		id[0] = '\0';
	id[strcspn(id, "\n")] = '\0';
	if (file)
		fclose(file);
}

static void hub_flush_due(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	link_hub_flush(arg);
}

struct link_hub *link_hub_new(struct event_base *base, struct tls *tls,
			      const struct link_self *self)
{
	struct link_hub *hub = memory_new(1, sizeof(*hub));

	hub->base = base;
	hub->tls = tls;
	hub->name = memory_copy(self->name);
	hub->epoch_ns = self->epoch_ns;
	hub->proof_ms = PROOF_MS;
	hub->unpacks = UNPACKS_SLOW;
	hub->log = log_stderr;
	if (event_assign(&hub->flush, base, -1, 0, hub_flush_due, hub) < 0 ||
	    event_assign(&hub->turn, base, -1, 0, hub_turn, hub) < 0)
		abort();
	boot_id_read(hub->boot_id, sizeof(hub->boot_id));
	hub->process = schedule_self();
	TAILQ_INIT(&hub->queue);
	TAILQ_INIT(&hub->paused);
	LIST_INIT(&hub->links);
	LIST_INIT(&hub->dead);
	arena_init(&hub->arena, HEADER_MEMORY);
	hub->resolver = resolver_new(base);
	return hub;
}

static void hub_reap(struct link_hub *hub)
{
	struct link *link;

	while ((link = LIST_FIRST(&hub->dead))) {
		LIST_REMOVE(link, entry);
		link_frame_forget(link);
		free(link);
	}
}

void link_hub_free(struct link_hub *hub)
{
	struct link *link;

	if (!hub)
		return;
	while ((link = LIST_FIRST(&hub->links)))
		link_bury(link);
	hub_reap(hub);
	event_del(&hub->flush);
	event_del(&hub->turn);
	arena_fini(&hub->arena);
	resolver_free(hub->resolver);
	free(hub->scratch);
	free(hub->name);
	free(hub);
}

void link_hub_log_set(struct link_hub *hub, link_log *log, void *arg)
{
	hub->log = log ? log : log_stderr;
	hub->log_arg = arg;
}

size_t link_hub_recheck(struct link_hub *hub)
{
	struct link *link, *next;
	struct error why;
	size_t n = 0;

	for (link = LIST_FIRST(&hub->links); link; link = next) {
		next = LIST_NEXT(link, entry);
		if ((link->state != LINK_HELLO && link->state != LINK_READY) ||
		    !link->transport.ssl || tls_trusts(hub->tls, link->transport.ssl, &why))
			continue;
		link_refuse(link, EACCES, &why);
		n++;
	}
	return n;
}

void link_hub_foreign_set(struct link_hub *hub, bool foreign)
{
	hub->foreign = foreign;
}

void link_hub_unpacks_set(struct link_hub *hub, enum wire_unpacks unpacks)
{
	hub->unpacks = unpacks;
}

void link_hub_allow_set(struct link_hub *hub, const struct allow *allow)
{
	hub->allow = allow;
}

void link_hub_proof_set(struct link_hub *hub, unsigned ms)
{
	hub->proof_ms = ms;
}

unsigned long link_hub_refused(const struct link_hub *hub)
{
	return hub->refused;
}

void hub_queue(struct link_hub *hub, struct link *link)
{
	if (link->queued)
		return;
	if (TAILQ_EMPTY(&hub->queue) && !hub->flushing)
		event_active(&hub->flush, EV_TIMEOUT, 0);
	TAILQ_INSERT_TAIL(&hub->queue, link, queued_entry);
	link->queued = true;
}

void hub_unqueue(struct link_hub *hub, struct link *link)
{
	if (link->queued)
		TAILQ_REMOVE(&hub->queue, link, queued_entry);
	link->queued = false;
}

void link_hub_rest(struct link_hub *hub)
{
	struct link *link;

	/* OpenSSL keeps buffers with pending data, and makes new ones when needed */
	LIST_FOREACH (link, &hub->links, entry) {
		link_pack_end(link);
		if (link->transport.ssl)
			SSL_free_buffers(link->transport.ssl);
	}
	free(hub->scratch);
	hub->scratch = NULL;
	bytes_rest();
	buffer_rest();
}

void link_hub_flush(struct link_hub *hub)
{
	struct link *link;

	if (hub->flushing)
		return;
	hub->flushing = true;
	while ((link = TAILQ_FIRST(&hub->queue))) {
		hub_unqueue(hub, link);
		link_work(link);
	}
	hub->flushing = false;
	event_del(&hub->flush);
	if (!hub->calls)
		hub_reap(hub);
}

/** The entry for @text: its own, else the one that was logged longest ago. */
static struct refusal *refusal_find(struct link_hub *hub, const char *text)
{
	struct refusal *oldest = &hub->refusals[0];
	size_t n = sizeof(oldest->text) - 1;

	for (size_t i = 0; i < REFUSALS; i++) {
		if (!strncmp(hub->refusals[i].text, text, n))
			return &hub->refusals[i];
		if (hub->refusals[i].said_ns < oldest->said_ns)
			oldest = &hub->refusals[i];
	}
	*oldest = (struct refusal){0};
	snprintf(oldest->text, sizeof(oldest->text), "%.*s", (int)n, text);
	return oldest;
}

void hub_refused(struct link_hub *hub, const char *where, const struct error *why)
{
	struct refusal *r = refusal_find(hub, why->text);
	uint64_t now = clock_mono_ns();
	unsigned long unsaid;
	struct error text;

	hub->refused++;
	if (r->said_ns && now - r->said_ns < r->pause_ns) {
		r->unsaid++;
		return;
	}
	if (!r->said_ns && !rate_limit_take(&hub->rationed, &unsaid)) {
		r->unsaid++;
		return;
	}
	r->pause_ns = r->unsaid && r->pause_ns ? 2 * r->pause_ns : SAY_AGAIN_NS;
	r->pause_ns = r->pause_ns < SAY_SELDOM_NS ? r->pause_ns : SAY_SELDOM_NS;
	errorf(&text, "refused %s: %s", where, why->text);
	if (r->unsaid)
		errorf(&text, "refused %s (and %lu before that, not shown): %s", where, r->unsaid,
		       why->text);
	r->said_ns = now;
	r->unsaid = 0;
	hub->log(hub->log_arg, text.text);
}

/* ---- the lobby ---- */

/* Places that do not count for a known address. */
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
	unsigned most = share(l, origin) + 2, n; /* counting this one */
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
