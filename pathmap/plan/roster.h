/* SPDX-License-Identifier: BSD-3-Clause */
/* A roster: which index each node has in plans, the same from view to view and from map to map. */
#ifndef EVSPACE_ROSTER_H
#define EVSPACE_ROSTER_H

#include <stddef.h>

#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

struct roster;

struct roster *roster_new(void);
void roster_free(struct roster *roster);

/**
 * Give the places of @plan the indexes that their nodes have, and to new nodes the lowest free
 * ones. A node that is not in the map any more keeps its own: names of elements carry it. Returns
 * 0, or -1 with ENOSPC and @e when there would be more than PLAN_PLACES.
 */
int roster_number(struct roster *roster, struct plan *plan, struct error *e);

/** Enter the nodes of all plans of @map, then all others, so that indexes do not depend on who asks
 * first. */
int roster_fill(struct roster *roster, const struct pathmap *map, struct error *e);

/** Enter @node at the lowest index that is free. */
int roster_add(struct roster *roster, const char *node, struct error *e);

/** A copy, for what may be given up. Aborts when memory is out. */
struct roster *roster_copy(const struct roster *roster);

/**
 * Enter those of the @n @nodes (by index; "": nobody had it) that are in one of the maps, NULL: no
 * map. What others had is free again. Returns 0, or -1 with @e when there are too many.
 */
int roster_restore(struct roster *roster, char *const *nodes, size_t n,
		   const struct pathmap *const maps[2], struct error *e);

/** The nodes, by index; "": it is free. */
size_t roster_count(const struct roster *roster);
char **roster_nodes(const struct roster *roster);

#endif
