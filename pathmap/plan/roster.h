/* SPDX-License-Identifier: BSD-3-Clause */
/* A roster: each node's index in plans, the same in all views and maps. */
#ifndef EVSPACE_ROSTER_H
#define EVSPACE_ROSTER_H

#include <stddef.h>

#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

struct roster;

struct roster *roster_new(void);
void roster_free(struct roster *roster);

/**
 * Set the indexes of @plan's places to those of their nodes; new nodes get the lowest free ones. A
 * node that is no longer in the map keeps its index, since ids of elements' names contain it.
 * Returns 0, or -1 with ENOSPC and @e when there would be more than PLAN_PLACES.
 */
int roster_number(struct roster *roster, struct plan *plan, struct error *e);

/** Enter the nodes of all plans of @map, those of the largest first, then all others, so that
 * indexes do not depend on the order of requests. */
int roster_fill(struct roster *roster, const struct pathmap *map, struct error *e);

/** Enter @node at the lowest free index. */
int roster_add(struct roster *roster, const char *node, struct error *e);

/** A copy, for changes that may be dropped. Aborts when memory is out. */
struct roster *roster_copy(const struct roster *roster);

/** Enter those of the @n @nodes (by index; "": free) that are in one of the maps (NULL: no map).
 * Indexes of others become free. Returns 0, or -1 with @e when there are too many. */
int roster_restore(struct roster *roster, char *const *nodes, size_t n,
		   const struct pathmap *const maps[2], struct error *e);

/** The nodes, by index; "": free. */
size_t roster_count(const struct roster *roster);
char **roster_nodes(const struct roster *roster);

#endif
