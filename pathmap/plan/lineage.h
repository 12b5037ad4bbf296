/* SPDX-License-Identifier: BSD-3-Clause */
/* Lineage: which nodes a map lets stand above which in the trees of its views. */
#ifndef EVSPACE_LINEAGE_H
#define EVSPACE_LINEAGE_H

#include <stdbool.h>

#include "pathmap/model/pathmap.h"

/** Whose agents may ask the agent of one node for parts of trees that have it, by one map. */
struct lineage;

/**
 * That of @node by @map, which stays the caller's and must last as long: those are the entry, the
 * gateways on the way to @node, nodes that fetch elements, those above @node in any view's tree or
 * above one that @node is an alternate of (but not that one itself), the alternates of such nodes
 * and of @node; and @node itself. Nobody when the map does not have @node. Costs as much as two
 * plans of each view. Aborts when memory is out.
 */
struct lineage *lineage_new(const struct pathmap *map, const char *node);
void lineage_free(struct lineage *lineage);

/** Is the node with the name @other one of them? O(1). */
bool lineage_has(const struct lineage *lineage, const char *other);

#endif
