/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a user's settings are kept in: $XDG_CONFIG_HOME/evspace, or ~/.config/evspace. */
#ifndef EVSPACE_CONFIG_H
#define EVSPACE_CONFIG_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** The path of the file @name in that folder; the caller's to free(). ~ is $HOME, else what the
 * password file says; who has no home gets a path at which nothing is. */
char *config_path(const char *name);

/** The folder of certificates where none is named: $EVSPACE_TLS, else ~/.config/evspace/tls. The
 * caller's to free(). */
char *config_tls_folder(void);

/** What the environment's variable @name says; NULL: it is not set, or empty, which is the same. */
const char *config_variable(const char *name);

/**
 * Write @bytes of @text to the file @path, its user's alone, making the folders above it. Who reads
 * it meanwhile finds all or nothing. Returns 0, or -1 with errno and @e.
 */
int config_write(const char *path, const char *text, size_t bytes, struct error *e);

#endif
