/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener: a socket whose peers become links once they have proved who they are; which users of
 * this host may. */
#ifndef EVSPACE_LISTENER_H
#define EVSPACE_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pathmap/base/error.h"
#include "tree/link/link.h"

/**
 * Listen at @address, "HOST:PORT" or "unix:PATH". A peer that has proved who it is, by certificate
 * or by the Unix socket's credentials, and said hello, becomes a link: @accepted sets its events,
 * `ready` follows at once. Others are logged.
 *
 * At most 64 peers may be without proof, for 5 s each (docs/guarantees.md), or a tenth of that if
 * 16 come from one address; up to 448 more wait. When all places are taken, a new peer replaces the
 * oldest one of those with the largest share of places, by address and by network (a /24, or a /48
 * of IPv6), if its own share would be smaller; 16 peers from an address with a proven peer do not
 * count.
 *
 * A socket file that a dead agent left is replaced. A socket that the service manager holds for us
 * is used (tree/link/notify.h). Returns NULL with @e.
 */
struct link_listener;
typedef void link_accepted(struct link *link, void *arg);
struct link_listener *link_listen(struct link_hub *hub, const char *address,
				  link_accepted *accepted, void *arg, struct error *e);
/** The port (for address "HOST:0"), 0 for a Unix socket. */
unsigned link_listener_port(const struct link_listener *listener);
/**
 * Make a socket file again that somebody has removed, if its folder exists. The service manager's
 * sockets are left alone. Returns 1 if it was made, 0 if there was nothing to do, or -1 with errno
 * and @e.
 */
int link_listener_renew(struct link_listener *listener, struct error *e);
void link_listener_free(struct link_listener *listener);

/** Nobody if all zero. */
struct allow {
	uid_t *users;
	gid_t *groups;
	size_t n_users, n_groups;
};

/** Add the users and groups in @text: "USER,@GROUP,…", by name or number. Returns 0, or -1 with
 * EINVAL and @e. */
int allow_parse(struct allow *allow, const char *text, struct error *e);
void allow_fini(struct allow *allow);

/** Is the process at the other end of the Unix socket @fd, of user @uid and group @gid, allowed, by
 * its user or one of its groups (SO_PEERGROUPS, unix(7))? NULL: no. */
bool allow_has(const struct allow *allow, uid_t uid, gid_t gid, int fd);

#endif
