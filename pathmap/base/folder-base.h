/* SPDX-License-Identifier: BSD-3-Clause */
/* Which folder the event space of a user is in: programs, agents and commands ask here alike. */
#ifndef EVSPACE_FOLDER_BASE_H
#define EVSPACE_FOLDER_BASE_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** Where a process is told to look. NULL or "": nothing is said. */
struct folder_wish {
	const char *dir;     /* $EVSPACE_DIR */
	const char *runtime; /* $XDG_RUNTIME_DIR */
};

/**
 * Write the base folder of the effective user to @buf of @n bytes: @wish->dir; else
 * /dev/shm/evspace-UID, which anybody can make first. Where that is there and is not the user's own
 * folder, or others may write to it, it is "evspace" in /run/user/UID, or else in @wish->runtime,
 * if that is the user's own; and it stays so as long as that folder is there. Looks, and makes
 * nothing.
 *
 * Returns 0; 1: the usual folder is passed over, *@why says it (NULL: nobody wants to know); -1: it
 * does not fit (ENAMETOOLONG).
 */
int folder_base_of(const struct folder_wish *wish, char *buf, size_t n, struct error *why);

/** The same with this process's environment. */
int folder_base(char *buf, size_t n, struct error *why);

/** Bytes that a base folder takes at most, with its end. */
#define FOLDER_BASE 200

/**
 * The same as text, for who cannot go on without. Writes it to @buf of @n bytes, FOLDER_BASE at
 * most. Returns @buf, or NULL with @e when it is too long.
 */
const char *folder_base_path(char *buf, size_t n, struct error *e);

/** Can a run have that name: that of one folder below the base, of less than FOLDER_RUN bytes? */
#define FOLDER_RUN 64
bool folder_is_run(const char *name);

#endif
