/* SPDX-License-Identifier: BSD-3-Clause */
/* A resolver: host names are looked up in threads, so that a silent name server holds up no loop.
 */
#ifndef EVSPACE_RESOLVER_H
#define EVSPACE_RESOLVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "tree/link/address.h"

struct event_base;

/**
 * getaddrinfo(3) itself is asked, as it alone goes by /etc/nsswitch.conf: hosts of clusters are in
 * LDAP, in containers' and in systemd's names. What was found for a name counts until something
 * else is found when somebody could not get in there (resolver_doubt()), what was not found for
 * 10 s from the end of the look. At most 16 looks begin within a second, and as many are under way
 * unless some take longer: then up to 128. One loop's; threads touch nothing of it.
 */
struct resolver;

struct resolver *resolver_new(struct event_base *base);

/** Who waits is not told; threads that are on their way end by themselves. NULL is fine. */
void resolver_free(struct resolver *resolver);

/** One who waits for a name, from resolver_find() until it is told. Embed it; zero-initialise. */
struct resolver_wait {
	LIST_ENTRY(resolver_wait) entry;
	bool waiting;
	/* From the loop. @why: NULL, or why there is no @address. */
	void (*found)(void *arg, const struct address *address, const struct error *why);
	void *arg;
};

/**
 * Find where @text leads, to be dialled. Numbers and sockets are not looked up. Returns 1 with
 * @address; 0 when @wait is told later; or -1 with errno and @e: it is no address, or was not found
 * just now.
 */
int resolver_find(struct resolver *resolver, const char *text, struct address *address,
		  struct resolver_wait *wait, struct error *e);

/** Do not tell @wait, which may not be waiting. */
void resolver_forget(struct resolver_wait *wait);

/** Who was there is not who was meant, or nobody was: look @text up again, every 5 s at most. */
void resolver_doubt(struct resolver *resolver, const char *text);

#endif
