/* SPDX-License-Identifier: BSD-3-Clause */
/* A roster: which index each node has in plans, the same from view to view and from map to map. */
#ifndef EVSPACE_ROSTER_H
#define EVSPACE_ROSTER_H

#include <stddef.h>

#include "pathmap/pathmap.h"
#include "pathmap/plan.h"

struct roster;

struct roster *roster_new(void);
void roster_free(struct roster *roster);

/**
 * Give the places of @plan the indexes that their nodes have, and to new nodes the next free ones.
 * A node that is not in the map any more keeps its own: names of elements carry it. Returns 0, or
 * -1 with ENOSPC and @e when there would be more than PLAN_PLACES.
 */
int roster_number(struct roster *roster, struct plan *plan, struct error *e);

/** Enter the nodes of all plans of @map, so that indexes do not depend on who asks first. */
int roster_fill(struct roster *roster, const struct pathmap *map, struct error *e);

/** Enter @node as the next one. */
int roster_add(struct roster *roster, const char *node, struct error *e);

/** The nodes, by index. */
size_t roster_count(const struct roster *roster);
char **roster_nodes(const struct roster *roster);

#endif
