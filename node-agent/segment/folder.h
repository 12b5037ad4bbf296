/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders of the event space: opened only if they are the user's own; kinds of their files by
 * name. */
#ifndef EVSPACE_FOLDER_H
#define EVSPACE_FOLDER_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pathmap/base/error.h"

/** Suffixes of file names. */
#define CURSOR_SUFFIX  ".cursor"
#define MIRROR_SUFFIX  ".mirror"
#define ELEMENT_SUFFIX ".elem"

/** The file with rules of steered collectives that were put into effect after the run's start. */
#define STEERING_FILE "steering"

/** The kind of a file in a run's folder, by its name. */
enum folder_kind {
	FOLDER_OTHER,	 /* not ours: left alone */
	FOLDER_SEGMENT,	 /* "rankR.PID.seg", "tTID.PID.seg", "agent.PID.seg", "consumer.PID.seg" */
	FOLDER_REFUSED,	 /* "rankR.PID.refused-REASON" */
	FOLDER_MIRROR,	 /* "rankR.PID.HASH.mirror": of another node's process */
	FOLDER_CURSOR,	 /* "*.cursor" of an agent */
	FOLDER_ELEMENT,	 /* "NAME.elem": a program's element; in use while it is locked */
	FOLDER_STEERING, /* STEERING_FILE: how the run's collectives are to be steered */
	FOLDER_UNFINISHED, /* ".*" or "*.tmp": not complete yet */
};

/** A file's name taken apart. */
struct folder_file {
	enum folder_kind kind;
	int32_t rank;	    /* -1: none in the name */
	pid_t pid;	    /* of its maker, 0: none in the name */
	const char *reason; /* of a refusal, part of the name; else "" */
};

/** Parse @name, which may be any text. */
struct folder_file folder_file(const char *name);

/** Does any process with the id that @file names exist? */
int folder_maker_exists(const struct folder_file *file);

/** Is the file @name of the folder @dir unlocked (flock(2))? The test locks it for a moment. */
bool folder_file_is_idle(int dir, const char *name);

/**
 * Lock the open file @fd; @kind is LOCK_SH or LOCK_EX. Tries a few times, because of
 * folder_file_is_idle() in other processes, but does not wait. Returns 0, or -1 with errno
 * (EWOULDBLOCK: it is in use).
 */
int folder_lock(int fd, int kind);

/**
 * Open the folder @name below the folder @at (AT_FDCWD) without following a link as its last part,
 * and check that the effective user owns it and that no one else may write to it. Messages call it
 * @path. Returns a descriptor (close-on-exec), or -1 with errno and the remedy in @e (ENOENT: it
 * does not exist; EPERM: it is someone else's).
 */
int folder_open(int at, const char *name, const char *path, struct error *e);

/** The next entry of @dir that is not "." or "..", NULL at the end. */
struct dirent *folder_next(DIR *dir);

#endif
