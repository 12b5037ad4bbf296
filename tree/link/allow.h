/* SPDX-License-Identifier: BSD-3-Clause */
/* Allow: other users of this host that may observe through an agent's Unix socket. */
#ifndef EVSPACE_ALLOW_H
#define EVSPACE_ALLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

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
