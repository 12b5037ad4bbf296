/* SPDX-License-Identifier: BSD-3-Clause */
/* Remaps: the entry agent goes by another map while its scopes are open
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
 * A remap is prepare and commit. Prepare: beside the tree of every open scope one by the new map is
 * opened, on the same cursors; and one each by the old and the new map for nobody, so that all
 * hosts are asked whether they are there, who they are, and which ranks they have. Commit, when all
 * hosts have opened that were there before, or are new: the map is kept, each scope goes over to
 * its new tree between two waves, and the old trees go. If anything is wrong before the commit,
 * nothing has changed. One remap is under way at a time.
 */
struct remap *remap_new(struct session_host *host);
void remap_free(struct remap *remap);

/**
 * Begin what @apply says; MapApplied or an error goes to @asker. Returns 0, or -1 with errno and
 * @e: it cannot even begin.
 */
int remap_begin(struct remap *remap, struct link *asker, const Evspace__MapApply *apply,
		struct error *e);

/** A scope was opened or closed. */
void remap_scopes_changed(struct remap *remap);

/** The link is gone; a remap that it asked for and that is not committed is given up. */
void remap_forget(struct remap *remap, const struct link *link);

#endif
