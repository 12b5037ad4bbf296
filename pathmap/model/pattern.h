/* SPDX-License-Identifier: BSD-3-Clause */
/* Names "/cluster/node/rank/thread/channel" and the patterns that select them (docs/pathmap.md). */
#ifndef EVSPACE_PATTERN_H
#define EVSPACE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** Bytes of the longest name or pattern, with its final 0. */
#define NAME_BYTES 256
/** Most patterns of a selection: each is matched with each element's name. */
#define PATTERNS_MAX 256u

/**
 * Does @name match @pattern? Both start with '/'. Within one part of a name `*` stands for any run
 * of characters, `?` for one, `[a-b]` with numbers for any number from a to b (`rank[0-7]`,
 * `rank[0-3,8]`); a part `**` stands for any number of parts, none included. A malformed pattern
 * matches nothing: check patterns where they are read.
 *
 * Elements of a split channel have names like "…/p2p@2b6c01fe" (of a communicator),
 * "…/p2p.MPI_Send" (an operation), "…/p2p:main.c:12" (a call site). A pattern that ends with only
 * the channel matches all of them.
 */
bool pattern_match(const char *pattern, const char *name);

/** Is @pattern well formed? Returns 0, or -1 with the place and the remedy in @e. */
int pattern_check(const char *pattern, struct error *e);

/** The same, with the place in *@offset (from 0) and not in the text. */
int pattern_check_at(const char *pattern, size_t *offset, struct error *e);

/** The parts of an element's name, by number. */
enum name_part { NAME_CLUSTER, NAME_NODE, NAME_RANK, NAME_THREAD, NAME_CHANNEL, NAME_PARTS };

/** Could @pattern match an element whose name begins with the parts of @prefix ("/4W/w0/rank3",
 * "/4W/w0", "/")? If not, the nodes with that prefix need not be asked. */
bool pattern_reaches(const char *pattern, const char *prefix);

/** Can @c be in a pattern literally: in a node's name, or after a channel's (`@`, `:`, `+`)? */
bool name_char(char c);

/**
 * The ends of @pattern that match what may follow the parts of @prefix ("/4W/w0") in names which it
 * matches: bit i is for the end that begins with part i (from 0), with its slash. Ends that others
 * include are left out.
 */
uint64_t pattern_ends(const char *pattern, const char *prefix);

/** The end that begins with part @i. */
const char *pattern_end(const char *pattern, unsigned i);

/** Longest part of a name that users choose (cluster, node, view), without the final 0. */
#define NAME_PART_MAX 63

/**
 * May @part be a part of a name: letters, digits, `.`, `_`, `-`, and a letter or digit first?
 * Returns 0, or -1 with what is wrong in @e.
 */
int name_part_check(const char *part, struct error *e);

#endif
