/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of the event space: opened only if they are the user's own; what their files are by name.
 */
#ifndef EVSPACE_FOLDER_H
#define EVSPACE_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** What the names of two kinds of files end in. */
#define CURSOR_SUFFIX ".cursor"
#define MIRROR_SUFFIX ".mirror"

/** What the name of a file in a run's folder says that it is. */
enum folder_kind {
	FOLDER_OTHER,	/* none of ours: left alone */
	FOLDER_SEGMENT, /* "rankR.PID.seg", "tTID.PID.seg", "agent.PID.seg", "consumer.PID.seg" */
	FOLDER_REFUSED, /* "rankR.PID.refused-REASON" */
	FOLDER_MIRROR,	/* "rankR.PID.HASH.mirror": of another node's process */
	FOLDER_CURSOR,	/* "*.cursor" of an agent */
	FOLDER_UNFINISHED, /* ".*" or "*.tmp": in the making */
};

/** A file's name taken apart. */
struct folder_file {
	enum folder_kind kind;
	int32_t rank;	    /* -1: the name says none */
	pid_t pid;	    /* of its maker, 0: the name says none */
	const char *reason; /* of a refusal, points into the name; else "" */
};

/** Take @name apart. Any text is fine. */
struct folder_file folder_file(const char *name);

/** Does a process with the id that @file names exist (whoever it is)? */
int folder_maker_exists(const struct folder_file *file);

/** Has nobody a lock on the file @name of the folder @dir (flock(2))? While it is asked, it is
 * locked for a moment. */
bool folder_file_is_idle(int dir, const char *name);

/**
 * Lock @fd, an open file: @kind is LOCK_SH or LOCK_EX. Who only asks whether it is idle is
 * outlasted by a few tries, nobody is waited for. Returns 0, or -1 with errno (EWOULDBLOCK: it is
 * in use).
 */
int folder_lock(int fd, int kind);

/**
 * Open the folder @name below the folder @at (AT_FDCWD) without following a link at its end, and
 * check that it is the effective user's own and that no one else may write to it. @path is what
 * messages call it. Returns a descriptor (close-on-exec), or -1 with errno and the remedy in @e
 * (ENOENT: it does not exist; EPERM: it is someone else's).
 */
int folder_open(int at, const char *name, const char *path, struct error *e);

/** The next entry of @dir that is not "." or "..", NULL at the end. */
struct dirent *folder_next(DIR *dir);

#endif
