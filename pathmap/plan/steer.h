/* SPDX-License-Identifier: BSD-3-Clause */
/* The trees of ranks over which collective operations of programs run: what `steer` of mapping.map
 * comes to, for collectors. */
#ifndef EVSPACE_PLAN_STEER_H
#define EVSPACE_PLAN_STEER_H

#include "pathmap/base/error.h"
#include "pathmap/model/parts.h"

/**
 * All `steer` of the map as collectors read them (EVSPACE_STEER, whose form is said in
 * node-agent/collect/mpi/steer-tree.h). A host's first rank stands for it, one
 * that the map names before others; a host without ranks is
 * stood for by the first one below it; what is directly below the entry meets as equals, if that is
 * not too many. *@text is for the caller to free(); NULL: nothing is steered. Returns 0, or -1 with
 * @e when a tree cannot be made.
 */
int steer_text(const struct pathmap *map, char **text, struct error *e);

/** Report what of it cannot be. */
void steer_check(const struct pathmap *map, const struct mapfile *source,
		 struct diagnostics *diagnostics);

#endif
