/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a user's event space, for programs, agents and commands alike. */
#ifndef EVSPACE_FOLDER_BASE_H
#define EVSPACE_FOLDER_BASE_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** Where a process is told to look. NULL or "": not set. */
struct folder_wish {
	const char *dir;     /* $EVSPACE_DIR */
	const char *runtime; /* $XDG_RUNTIME_DIR */
};

/**
 * Write the base folder of the effective user to @buf of @n bytes: @wish->dir; else
 * /dev/shm/evspace-UID, which any user can make first. If that exists but is not the user's own, or
 * others may write to it, the folder is "evspace" in /run/user/UID, or else in @wish->runtime, if
 * that is the user's own; and it stays in use as long as it exists. Makes nothing.
 *
 * Returns 0; 1: the usual folder is not used, and *@why says why (@why may be NULL); -1: the path
 * does not fit (ENAMETOOLONG).
 */
int folder_base_of(const struct folder_wish *wish, char *buf, size_t n, struct error *why);

/** The same with this process's environment. */
int folder_base(char *buf, size_t n, struct error *why);

/** Most bytes of a base folder's path, with its final 0. */
#define FOLDER_BASE 200

/** The same for callers that need the path. Writes it to @buf of @n bytes, FOLDER_BASE at most.
 * Returns @buf, or NULL with @e when it is too long. */
const char *folder_base_path(char *buf, size_t n, struct error *e);

/** Can a run have that name: a single folder name of less than FOLDER_RUN bytes? */
#define FOLDER_RUN 64
bool folder_is_run(const char *name);

#endif
