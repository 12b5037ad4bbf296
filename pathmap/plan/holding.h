/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a plan's hosts, as lists that are sent with it. */
#ifndef EVSPACE_HOLDING_H
#define EVSPACE_HOLDING_H

#include <stdbool.h>

#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

/** The ranks that the map puts on @node: "0-7,12", "all", or "" for none, for the caller to
 * free(). */
char *holding_list(const struct pathmap *map, const char *node);

/** Is @rank in the list? */
bool holding_has(const char *list, unsigned rank);

/** Set the ranks of each leaf of @plan, which is made of @map. */
void holding_set(struct plan *plan, const struct pathmap *map);

/** Set `elsewhere` of each leaf of @plan, on which holding_set() was called: the ranks that it
 * holds by @map and that @other puts on other nodes, with these nodes. */
void holding_compare(struct plan *plan, const struct pathmap *map, const struct pathmap *other);

/** Copy the node of @rank in the list @elsewhere to @node (@room bytes). False: there is none. */
bool holding_other(const char *elsewhere, unsigned rank, char *node, size_t room);

#endif
