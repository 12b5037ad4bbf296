/* SPDX-License-Identifier: BSD-3-Clause */
/* Sites: call sites resolved to file and line by debugging information. */
#ifndef EVSPACE_SITE_H
#define EVSPACE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/segment/segment-table.h"

/** Longest text of a site, with its final 0. */
#define SITE_TEXT 128

/** Longest name of a function that patterns find, with its final 0, and most that one finds. */
#define SITE_FUNCTION  56
#define SITE_FUNCTIONS 48u

/** The sites that were resolved last, and the files that are open for it. */
struct sites;

struct sites *sites_new(void);
void sites_free(struct sites *sites);

/**
 * The call that returns to @address, an address in the file of @module (a copy from a segment):
 * "main.c:12"; without line numbers "exchange+0x4f", the function; without symbols, or when the
 * file is gone or not the one that was run (its build-id differs), "libx.so.1+0x1c30". Characters
 * that a pattern cannot have become `_`. If two sites have the same text, the second one gets
 * "+0xADDRESS" appended. Results are cached, up to 16 MB of the newest. The text is valid until the
 * next call.
 */
const char *sites_find(struct sites *sites, const struct segment_module *module, uint64_t address);

/** The address in the file of @module (a copy from a segment) of the function @name by its symbols;
 * 0: it has none, or the file is not the one that was run. The first one of several with the same
 * name. The last results are kept. */
uint64_t sites_function(struct sites *sites, const struct segment_module *module, const char *name);

/** A function of a file, by its symbols. */
struct site_function {
	uint64_t address; /* in the file */
	char name[SITE_FUNCTION];
};

/** Those that @pattern stands for (wildcard.h), but for names that begin with `_`: *@found has the
 * first SITE_FUNCTIONS, valid until the next call. Returns how many there are, which may be more.
 * The last results are kept. */
size_t sites_functions(struct sites *sites, const struct segment_module *module,
		       const char *pattern, const struct site_function **found);

/** Look for functions, but for those that are kept, until @until_ns (CLOCK_MONOTONIC) only; 0: for
 * as long as it takes. Returns whether some were left out since this was said last: there are
 * none of these as yet. */
bool sites_limit(struct sites *sites, uint64_t until_ns);

/** Close the files and free their memory, unless there are holds: nothing is to be resolved for
 * now. */
void sites_rest(struct sites *sites);
void sites_hold(struct sites *sites);
void sites_release(struct sites *sites);

#endif
