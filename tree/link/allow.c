/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lists of users and groups, and checks who is in them. */
#include "tree/link/listener.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "pathmap/base/memory.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59 /* Linux 4.13 */
#endif

#define GROUPS_MOST 65536u /* NGROUPS_MAX of Linux */

/** A number, or -1. */
static long number_of(const char *text)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && number < UINT32_MAX ? number : -1;
}

static int add_one(struct allow *a, const char *name, struct error *e)
{
	bool is_group = name[0] == '@';
	const char *bare = name + is_group;
	long number = number_of(bare);

	if (number < 0 && is_group) {
		/* cppcheck-suppress getgrnamCalled */ /* other threads look up hosts only */
		const struct group *group = getgrnam(bare);

		number = group ? (long)group->gr_gid : -1;
	} else if (number < 0) {
		/* cppcheck-suppress getpwnamCalled */
		const struct passwd *user = getpwnam(bare);

		number = user ? (long)user->pw_uid : -1;
	}
	errno = EINVAL;
	if (number < 0)
		return errorf(e, "there is no %s \"%s\" here", is_group ? "group" : "user", bare);
	if (is_group) {
		a->groups = memory_room(a->groups, a->n_groups, sizeof(gid_t));
		a->groups[a->n_groups++] = (gid_t)number;
	} else {
		a->users = memory_room(a->users, a->n_users, sizeof(uid_t));
		a->users[a->n_users++] = (uid_t)number;
	}
	return 0;
}

int allow_parse(struct allow *allow, const char *text, struct error *e)
{
	char *copy = memory_copy(text), *rest = copy, *name;
	int result = 0;

	while (result == 0 && (name = strsep(&rest, ",")))
		result = add_one(allow, name, e);
	free(copy);
	errno = EINVAL;
	return result;
}

void allow_fini(struct allow *allow)
{
	free(allow->users);
	free(allow->groups);
	*allow = (struct allow){0};
}

static bool has_group(const struct allow *a, gid_t gid)
{
	for (size_t i = 0; i < a->n_groups; i++) {
		if (a->groups[i] == gid)
			return true;
	}
	return false;
}

/** Is one of its supplementary groups in the list? */
static bool has_other_group(const struct allow *a, int fd)
{
	socklen_t bytes = 0;
	gid_t *groups, none;
	bool has = false;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, &none, &bytes) == 0 || errno != ERANGE ||
	    bytes > GROUPS_MOST * sizeof(gid_t))
		return false;
	groups = memory_new(bytes, 1);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes) == 0) {
		for (size_t i = 0; i < bytes / sizeof(gid_t) && !has; i++)
			has = has_group(a, groups[i]);
	}
	free(groups);
	return has;
}

bool allow_has(const struct allow *a, uid_t uid, gid_t gid, int fd)
{
	if (!a)
		return false;
	for (size_t i = 0; i < a->n_users; i++) {
		if (a->users[i] == uid)
			return true;
	}
	return a->n_groups && (has_group(a, gid) || has_other_group(a, fd));
}
