/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a user's settings: in $XDG_CONFIG_HOME/evspace, or ~/.config/evspace. */
#ifndef EVSPACE_CONFIG_H
#define EVSPACE_CONFIG_H

#include <stddef.h>

#include "pathmap/base/error.h"

/** The path of the file @name in that folder, for the caller to free(). ~ is $HOME, else the
 * home of the password file; without any, the path does not exist. */
char *config_path(const char *name);

/** The default folder of certificates: $EVSPACE_TLS, else ~/.config/evspace/tls. The caller must
 * free() it. */
char *config_tls_folder(void);

/** The value of the environment's variable @name; NULL if it is unset or empty. */
const char *config_variable(const char *name);

/** Make the folders above the file @path, for the user alone, if they are missing. */
void config_folders_make(const char *path);

/**
 * Write @bytes of @text to the file @path, which only the user can read, and make the folders above
 * it. The file is replaced when it is on the disk, so nobody ever sees a part. Returns 0, or -1
 * with errno and @e.
 */
int config_write(const char *path, const char *text, size_t bytes, struct error *e);

#endif
