/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks the hosts of a plan hold, as lists that travel with it. */
#ifndef EVSPACE_HOLDING_H
#define EVSPACE_HOLDING_H

#include <stdbool.h>

#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

/** The ranks that the map puts on @node: "0-7,12", "all", or "" for none; the caller's to free().
 */
char *holding_list(const struct pathmap *map, const char *node);

/** Is @rank in the list? */
bool holding_has(const char *list, unsigned rank);

/** Say at every leaf of @plan, which is of @map, which ranks it holds. */
void holding_set(struct plan *plan, const struct pathmap *map);

/**
 * Say at every leaf of @plan, of which holding_set() has said what it holds by @map, which of these
 * ranks @other puts on other nodes, and on which (`elsewhere`).
 */
void holding_compare(struct plan *plan, const struct pathmap *map, const struct pathmap *other);

/** On which node does the list @elsewhere have @rank? Copied to @node (@room bytes); false: none.
 */
bool holding_other(const char *elsewhere, unsigned rank, char *node, size_t room);

#endif
