/* SPDX-License-Identifier: BSD-3-Clause */
/* Sites: call sites resolved to file and line, from the debugging information of what was run. */
#ifndef EVSPACE_SITE_H
#define EVSPACE_SITE_H

#include <stddef.h>

#include "node-agent/segment/segment-table.h"

/** The longest text of a site, with its zero. */
#define SITE_TEXT 128

/** The sites that were resolved lately, and the files that are open for that. */
struct sites;

struct sites *sites_new(void);
void sites_free(struct sites *sites);

/**
 * The call that returns to @address, an address in the file of @module (a copy out of a segment):
 * "main.c:12"; without line numbers "exchange+0x4f", the function; without symbols, or when the
 * file is gone or another one than was run (its build-id differs), "libx.so.1+0x1c30". Letters that
 * a pattern cannot have are `_`. Two sites of the same text get "+0xADDRESS" behind the second one.
 * Each is resolved once, as long as it is one of the newest that some 16 MB hold. The text is valid
 * until the next call.
 */
const char *sites_find(struct sites *sites, const struct segment_module *module, uint64_t address);

/** Nothing is to be resolved for now: close the files, and give back the memory that took; unless
 * somebody holds them, who is in the midst of resolving. */
void sites_rest(struct sites *sites);
void sites_hold(struct sites *sites);
void sites_release(struct sites *sites);

#endif
