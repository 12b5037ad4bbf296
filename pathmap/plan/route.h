/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes: from which node each node of a view's tree is dialled, by the shape that the mapping
 * says. */
#ifndef EVSPACE_ROUTE_H
#define EVSPACE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "pathmap/model/parts.h"

/** The routes of one view. */
struct route {
	const struct pathmap *map;
	const struct tree *tree;
	bool monitors;
	bool *leaves;		   /* by node index: it holds elements that the view reads */
	bool *mirrors;		   /* by node index: among these such as it fetches from others */
	const struct node **heads; /* by cluster index: the node that dials the others of it */
	size_t *positions;	   /* by node index: among the leaves of its cluster but the head */
	const struct node **followers; /* those leaves, cluster by cluster */
	size_t *first_follower;	       /* by cluster index: where its followers begin */
};

/** Find the leaves of the view and the head of each cluster. @monitors: not the program's elements
 * are read, but those of the hosts' own monitors. */
void route_init(struct route *route, const struct pathmap *map, const struct view *view,
		bool monitors);

/** Free what it owns. */
void route_fini(struct route *route);

/** The node that dials @node, which is not the entry. NULL with the reason in @e. */
const struct node *route_parent(const struct route *route, const struct node *node,
				struct error *e);

#endif
