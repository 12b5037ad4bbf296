/* SPDX-License-Identifier: BSD-3-Clause */
/* What a consumer wishes of the shape of a tree, and whether the map allows it. */
#include "pathmap/plan/wish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Who can allow more. */
#define KEEPER "whoever keeps the map can allow it by "

static int tree_refused(const struct definable *definable, const char *view, const char *wished,
			const struct tree *own, struct error *e)
{
	struct definable trees = {0};
	char *allowed;

	for (size_t i = 0; i < TREE_BY_HAND; i++)
		trees.trees[i] = definable->trees[i];
	allowed = definable_shapes(&trees);
	errorf(e,
	       "the map lets no consumer choose the tree `%.60s` for view `%.60s`, only its own, "
	       "%s%s%s; " KEEPER "`views { trees %.*s; }` in application.map",
	       wished, view, tree_kinds[own->kind], *allowed ? ", or " : "", allowed,
	       (int)strcspn(wished, " "), wished);
	free(allowed);
	errno = EPERM;
	return -1;
}

static int tree_choose(struct tree *tree, const struct definable *definable, const char *view,
		       const char *wished, struct error *e)
{
	struct shape shape;

	errno = EINVAL;
	if (shape_read(wished, &shape, e) < 0)
		return -1;
	if (shape.kind == tree->kind && shape.fanout == tree->fanout)
		return 0;
	if (!definable->trees[shape.kind])
		return tree_refused(definable, view, wished, tree, e);
	tree->kind = shape.kind;
	tree->fanout = shape.fanout;
	tree->ignoring_gateways = false;
	return 0;
}

/* Are @a children at once more than @b? 0 are all. */
static bool is_more(unsigned a, unsigned b)
{
	return a - 1 > b - 1;
}

static int concurrency_choose(struct tree *tree, const struct definable *definable,
			      const char *view, const char *wished, struct error *e)
{
	unsigned n, most = tree->concurrency;

	if (definable->concurrency_said && is_more(definable->concurrency, most))
		most = definable->concurrency;
	errno = EINVAL;
	if (shape_concurrency(wished, &n, e) < 0)
		return -1;
	if (is_more(n, most)) {
		errno = EPERM;
		return errorf(e,
			      "the map lets consumers ask %u child%s at once in view "
			      "`%.60s`, not %s; " KEEPER
			      "`views { concurrency at most %s; }` in application.map",
			      most, most == 1 ? "" : "ren", view, wished, wished);
	}
	tree->concurrency = n;
	return 0;
}

int wish_tree(struct tree *tree, const struct pathmap *map, const char *view,
	      const struct plan_wish *wish, struct error *e)
{
	const struct definable *definable = &map->application.definable;
	struct tree made = *mapping_tree(&map->mapping, view);

	made.concurrency = mapping_concurrency(&map->mapping, view);
	if (wish->tree != NULL && *wish->tree &&
	    tree_choose(&made, definable, view, wish->tree, e) < 0)
		return -1;
	if (wish->concurrency != NULL && *wish->concurrency &&
	    concurrency_choose(&made, definable, view, wish->concurrency, e) < 0)
		return -1;
	*tree = made;
	return 0;
}

int wish_reaches(const struct plan *plan, const struct pathmap *map, struct error *e)
{
	errno = EPERM;
	PLAN_FOREACH (walk, plan->root) {
		const struct node *node = cluster_map_node(&map->clusters, walk.place->node);
		const char *above = walk.parent != NULL ? walk.parent->node : walk.place->node;
		const struct node *from = cluster_map_node(&map->clusters, above);

		if (node != from && (*walk.place->address == '\0' ||
				     (node->unreachable && from->cluster != node->cluster &&
				      node->cluster->gateway != from)))
			return errorf(e,
				      "`%s` would have to dial `%s`, which by the "
				      "cluster map it cannot; choose another tree",
				      above, node->name);
	}
	return 0;
}
