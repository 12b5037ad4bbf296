/* SPDX-License-Identifier: BSD-3-Clause */
/* What a consumer wishes of the shape of a tree, and whether the map allows it. */
#ifndef EVSPACE_WISH_H
#define EVSPACE_WISH_H

#include "pathmap/model/parts.h"
#include "pathmap/plan/plan.h"

/**
 * The shape of the tree of @view, a name, as @wish has it: as the mapping says, but for what the
 * wish says and the map allows. It borrows from @map. Returns 0; or -1 with EINVAL if the wish is
 * none, with EPERM if the map does not allow it, and @e.
 */
int wish_tree(struct tree *tree, const struct pathmap *map, const char *view,
	      const struct plan_wish *wish, struct error *e);

/** Can every host of the plan be dialled by the one above it? Of the maps' own trees that is
 * checked when they are read. Returns 0, or -1 with EPERM and @e. */
int wish_reaches(const struct plan *plan, const struct pathmap *map, struct error *e);

#endif
