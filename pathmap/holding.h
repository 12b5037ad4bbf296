/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks the hosts of a plan hold, as lists that travel with it. */
#ifndef EVSPACE_HOLDING_H
#define EVSPACE_HOLDING_H

#include <stdbool.h>

#include "pathmap/pathmap.h"
#include "pathmap/plan.h"

/** The ranks that the map puts on @node: "0-7,12", "all", or "" for none; the caller's to free().
 */
char *holding_list(const struct pathmap *map, const char *node);

/** Is @rank in the list? */
bool holding_has(const char *list, unsigned rank);

/**
 * Say at every leaf of @plan, which is of @map, which ranks it holds, and, where @other is not
 * NULL, which of these that map puts on another node: they cannot be where both say.
 */
void holding_set(struct plan *plan, const struct pathmap *map, const struct pathmap *other);

#endif
