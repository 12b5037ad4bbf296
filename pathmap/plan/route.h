/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes: which node dials each node of a view's tree, by the tree's shape in the mapping. */
#ifndef EVSPACE_ROUTE_H
#define EVSPACE_ROUTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"
#include "pathmap/model/parts.h"

/** The routes of one view. */
struct route {
	const struct pathmap *map;
	const struct tree *tree; /* its shape, borrowed */
	bool monitors;
	bool *leaves;		   /* by node index: it has elements that the view reads */
	bool *mirrors;		   /* by node index: some of these are fetched from others */
	const struct node **heads; /* by cluster index: the node that dials the cluster's others */
	size_t *positions; /* by node index: position among its cluster's leaves without the head */
	const struct node **followers; /* those leaves, cluster by cluster */
	size_t *first_follower;	       /* by cluster index: start of its followers */
};

/** Find the leaves of the view and the head of each cluster, for a tree of the shape @tree.
 * @monitors: read elements of the hosts' monitors instead of the program's. */
void route_init(struct route *route, const struct pathmap *map, const struct view *view,
		const struct tree *tree, bool monitors);

/** Free what it owns. */
void route_fini(struct route *route);

/** The node that dials @node, which must not be the entry. NULL with the reason in @e. */
const struct node *route_parent(const struct route *route, const struct node *node,
				struct error *e);

#endif
