/* SPDX-License-Identifier: BSD-3-Clause */
/* A resolver: looks host names up in threads, so that a silent name server does not block the
 * loop. */
#ifndef EVSPACE_RESOLVER_H
#define EVSPACE_RESOLVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "tree/link/address.h"

struct event_base;

/**
 * Uses getaddrinfo(3), since only that follows /etc/nsswitch.conf: clusters keep hosts in LDAP, in
 * containers' and in systemd's names. A found address is kept until a lookup after resolver_doubt()
 * finds another one; a failure is kept for 10 s from the end of its lookup. At most 16 lookups
 * begin within a second, and at most 16 run, or 128 if some take longer. For one loop; threads do
 * not touch it.
 */
struct resolver;

struct resolver *resolver_new(struct event_base *base);

/** Does not tell the waiters; running threads end by themselves. NULL is fine. */
void resolver_free(struct resolver *resolver);

/** A request for a name, from resolver_find() until it is answered. Embed it; zero-initialise. */
struct resolver_wait {
	LIST_ENTRY(resolver_wait) entry;
	bool waiting;
	/* Called from the loop. @why: NULL, or why there is no @address. */
	void (*found)(void *arg, const struct address *address, const struct error *why);
	void *arg;
};

/**
 * Find the address of @text, to be dialled. Numbers and sockets need no lookup. Returns 1 with
 * @address; 0 if @wait is told later; or -1 with errno and @e: it is not an address, or was not
 * found recently.
 */
int resolver_find(struct resolver *resolver, const char *text, struct address *address,
		  struct resolver_wait *wait, struct error *e);

/** Do not tell @wait; it need not be waiting. */
void resolver_forget(struct resolver_wait *wait);

/** Nobody was there, or the wrong host: look @text up again, every 5 s at most. */
void resolver_doubt(struct resolver *resolver, const char *text);

#endif
