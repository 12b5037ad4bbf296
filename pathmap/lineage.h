/* SPDX-License-Identifier: BSD-3-Clause */
/* Lineage: which nodes a map lets stand above which in the trees of its views. */
#ifndef EVSPACE_LINEAGE_H
#define EVSPACE_LINEAGE_H

#include <stdbool.h>

#include "pathmap/pathmap.h"

/**
 * May the agent of node @other ask for parts of trees that of @node by this map? It may when it is
 * the entry, a gateway on the way to @node, a node that fetches elements, in any view's tree above
 * @node or above one that @node is an alternate of (but not that one itself), or an alternate of
 * such a node or of @node; and when it is @node itself. False for names that the map does not have.
 * Costs as much as two plans of each view at worst, much less for who is found.
 */
bool lineage_has(const struct pathmap *map, const char *node, const char *other);

#endif
