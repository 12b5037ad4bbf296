/* SPDX-License-Identifier: BSD-3-Clause */
/* Lineage: the nodes that may stand above a node in the trees of a map's views. */
#ifndef EVSPACE_LINEAGE_H
#define EVSPACE_LINEAGE_H

#include <stdbool.h>

#include "pathmap/model/pathmap.h"

/** The nodes whose agents may ask one node's agent for parts of trees, by one map. */
struct lineage;

/**
 * The lineage of @node by @map, which stays the caller's and must outlive it. It has the entry, the
 * gateways on the path to @node, nodes that fetch elements, all nodes above @node in any view's
 * tree, those above a node that @node is an alternate of (but not that node), the alternates of all
 * these and of @node, and @node. It is empty when the map does not have @node. Costs as much as two
 * plans of each view. Aborts when memory is out.
 */
struct lineage *lineage_new(const struct pathmap *map, const char *node);
void lineage_free(struct lineage *lineage);

/** Does it have the node named @other? O(1). */
bool lineage_has(const struct lineage *lineage, const char *other);

#endif
