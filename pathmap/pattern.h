/* SPDX-License-Identifier: BSD-3-Clause */
/* Names "/cluster/node/rank/thread/channel" and the patterns that select them (DESIGN 6). */
#ifndef EVSPACE_PATTERN_H
#define EVSPACE_PATTERN_H

#include <stdbool.h>

#include "pathmap/error.h"

/** The longest name or pattern, terminating zero included. */
#define NAME_BYTES 256

/**
 * Does @name match @pattern? Both start with '/'. Within one part of a name `*` stands for any run of
 * characters, `?` for one, `[a-b]` with numbers for any number from a to b (`rank[0-7]`,
 * `rank[0-3,8]`); a part `**` stands for any number of parts, none included. A malformed pattern
 * matches nothing: check patterns where they are read.
 */
bool pattern_match(const char *pattern, const char *name);

/** Is @pattern well formed? Returns 0, or -1 with the place and the remedy in @e. */
int pattern_check(const char *pattern, struct error *e);

#endif
