/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener: a socket on which peers become links once they have proved who they are. */
#ifndef EVSPACE_LISTENER_H
#define EVSPACE_LISTENER_H

#include "tree/link/link.h"

/**
 * A listening socket, at "HOST:PORT" or "unix:PATH". A peer that has proved who it is, by
 * certificate or by the Unix socket's credentials, and said hello, becomes a link: @accepted gives
 * it its events, `ready` follows at once. Others are logged. At most 64 may be without proof, 5 s
 * each (docs/guarantees.md), or a tenth of that where 16 from one address are; up to 448 more wait.
 * Who comes when all places are taken gets that of the oldest of those that have most of them, by
 * address and by what is near it (a /24, or a /48 of IPv6), if it would have less; from where
 * somebody has proved who he is, 16 do not count. NULL with @e. A socket file that a dead agent
 * left is replaced. A socket that the service manager holds there for us is taken
 * (tree/link/notify.h).
 */
struct link_listener;
typedef void link_accepted(struct link *link, void *arg);
struct link_listener *link_listen(struct link_hub *hub, const char *address,
				  link_accepted *accepted, void *arg, struct error *e);
/** The port that was bound (for address "HOST:0"), 0 for a Unix socket. */
unsigned link_listener_port(const struct link_listener *listener);
/**
 * A socket file that somebody has removed, while its folder is there (again), is made again. What
 * the service manager holds is its own affair. Returns 1 when it was made, 0 when there was nothing
 * to do, or -1 with errno and @e.
 */
int link_listener_renew(struct link_listener *listener, struct error *e);
void link_listener_free(struct link_listener *listener);

#endif
