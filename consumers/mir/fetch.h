/* SPDX-License-Identifier: BSD-3-Clause */
/* Sources of other hosts: fetched by curl(1) into a folder of their own, from hosts that are
 * stated. */
#ifndef EVSPACE_FETCH_H
#define EVSPACE_FETCH_H

#include <stdbool.h>

#include "pathmap/base/error.h"

/** Is the URI one of http:, https: or ftp:? */
bool fetch_is(const char *uri);

/** Make a folder for what is fetched; NULL with errno. fetch_end() removes it, with all that is in
 * it; NULL is fine. */
char *fetch_begin(void);
void fetch_end(char *folder);

/**
 * Fetch what is at @uri, at one of @hosts ("HOST,HOST:PORT"; NULL: none), into @folder: 16 MiB, in
 * a minute, without being sent on to elsewhere. Returns its path, for the caller to free(), or NULL
 * with @e. It takes so long: for processes that have nothing else to do.
 */
char *fetch_file(const char *folder, const char *uri, const char *hosts, struct error *e);

/** Where fetch_file() puts it; NULL: the URI does not end with the name of a file. */
char *fetch_path(const char *folder, const char *uri);

#endif
