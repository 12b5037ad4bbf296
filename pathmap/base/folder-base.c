/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the folder of the event space, even if another user has made one in its place. */
#include "pathmap/base/folder-base.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 256

/** What is at a path. */
enum found { FOUND_NOTHING, FOUND_OURS, FOUND_OTHER };

static enum found look(const char *path, struct error *why)
{
	struct stat st;

	if (lstat(path, &st))
		return FOUND_NOTHING;
	if (!S_ISDIR(st.st_mode))
		errorf(why, "%s is not a folder", path);
	else if (st.st_uid != geteuid())
		errorf(why, "%s belongs to another user (uid %u, you are %u)", path,
		       (unsigned)st.st_uid, (unsigned)geteuid());
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		errorf(why, "%s may be written to by others (mode %03o)", path,
		       (unsigned)st.st_mode & 0777);
	else
		return FOUND_OURS;
	return FOUND_OTHER;
}

/* Write the folder of ours below @parent, if @parent is ours, to @path. */
static enum found look_below(const char *parent, char *path)
{
	struct error why;

	if (parent[0] != '/' || look(parent, &why) != FOUND_OURS ||
	    snprintf(path, PATH_BYTES, "%s/evspace", parent) >= PATH_BYTES)
		return FOUND_OTHER;
	return look(path, &why);
}

/* Write the folder where no other user can make one to @path. The first place is the same for
 * processes without a session, as those of ssh and Slurm. */
static enum found look_apart(const char *runtime, char *path)
{
	char session[PATH_BYTES], other[PATH_BYTES];
	enum found found, later;

	snprintf(session, sizeof(session), "/run/user/%u", (unsigned)geteuid());
	found = look_below(session, path);
	if (found == FOUND_OURS || !runtime)
		return found;
	later = look_below(runtime, other);
	if (later == FOUND_OURS || (later == FOUND_NOTHING && found == FOUND_OTHER)) {
		memcpy(path, other, sizeof(other));
		return later;
	}
	return found;
}

static int put(const char *path, char *buf, size_t n)
{
	if (strlen(path) < n) {
		memcpy(buf, path, strlen(path) + 1);
		return 0;
	}
	errno = ENAMETOOLONG;
	return -1;
}

int folder_base_of(const struct folder_wish *wish, char *buf, size_t n, struct error *why)
{
	char usual[PATH_BYTES], apart[PATH_BYTES];
	enum found there, aside;
	struct error e;

	if (wish->dir && *wish->dir)
		return put(wish->dir, buf, n);
	snprintf(usual, sizeof(usual), "/dev/shm/evspace-%u", (unsigned)geteuid());
	there = look(usual, &e);
	if (there == FOUND_OURS)
		return put(usual, buf, n);
	/* if the other user's folder is removed, programs must still find the agents, so keep
	 * the folder aside */
	aside = look_apart(wish->runtime, apart);
	if (aside == FOUND_OTHER || (there == FOUND_NOTHING && aside == FOUND_NOTHING))
		return put(usual, buf, n);
	if (put(apart, buf, n))
		return -1;
	if (there == FOUND_NOTHING)
		return 0;
	if (why)
		errorf(why, "%s: it is not used, %s is", e.text, apart);
	return 1;
}

int folder_base(char *buf, size_t n, struct error *why)
{
	const struct folder_wish wish = {getenv("EVSPACE_DIR"), getenv("XDG_RUNTIME_DIR")};

	return folder_base_of(&wish, buf, n, why);
}

const char *folder_base_path(char *buf, size_t n, struct error *e)
{
	n = n < FOLDER_BASE ? n : FOLDER_BASE;
	if (folder_base(buf, n, NULL) >= 0)
		return buf;
	errorf(e, "EVSPACE_DIR is too long: a path of less than %zu characters fits", n);
	return NULL;
}

bool folder_is_run(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < FOLDER_RUN;
}
