/* SPDX-License-Identifier: BSD-3-Clause */
/* Remaps: the entry agent changes to another map while its scopes are open
 * (docs/decisions/0007-remap-second-tree.md). */
#ifndef EVSPACE_REMAP_H
#define EVSPACE_REMAP_H

#include <stdint.h>

#include "pathmap/base/error.h"
#include "tree/wire/wire.h"

struct link;
struct remap;
struct session_host;

/**
 * A remap has two phases. Prepare: for each open scope, open a second tree by the new map, on the
 * same cursors; and open a tree by the old and one by the new map without consumer, which ask all
 * hosts whether they answer, their names, and their ranks. Commit, when all hosts have opened that
 * answered before or are new: store the map, switch each scope to its new tree between two waves,
 * and close the old trees. If anything fails before the commit, nothing has changed. There is one
 * remap at a time.
 */
struct remap *remap_new(struct session_host *host);
void remap_free(struct remap *remap);

/** Begin what @apply says; @asker gets MapApplied or an error. Returns 0, or -1 with errno and
 * @e if it cannot begin. */
int remap_begin(struct remap *remap, struct link *asker, const Evspace__MapApply *apply,
		struct error *e);

/** A scope was opened or closed. */
void remap_scopes_changed(struct remap *remap);

/** The link is closed: give up the remap that it asked for, unless it is committed. */
void remap_forget(struct remap *remap, const struct link *link);

#endif
