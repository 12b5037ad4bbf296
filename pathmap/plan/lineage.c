/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks up the trees of all views from a node, and collects the nodes above. */
#include "pathmap/plan/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/plan/route.h"

struct lineage {
	const struct pathmap *map;
	bool *has; /* by node->index */
};

/* A walk up one view's tree. */
struct climb {
	struct lineage *lineage;
	const struct view *view;
	struct route route;
};

static const struct node *alternate_at(const struct climb *c, const struct node *of, size_t i)
{
	return mapping_alternate(&c->lineage->map->mapping, c->view->name, of, i);
}

static bool is_alternate(const struct climb *c, const struct node *by, const struct node *of)
{
	const struct node *alternate;

	for (size_t i = 0; (alternate = alternate_at(c, of, i)) != NULL; i++) {
		if (alternate == by)
			return true;
	}
	return false;
}

static void node_add(struct lineage *lineage, const struct node *node)
{
	lineage->has[node->index] = true;
}

/* Add @node, all nodes above it, and their alternates. */
static void climb_from(const struct climb *c, const struct node *node)
{
	const struct pathmap *map = c->lineage->map;
	size_t most = map->clusters.n_nodes;
	const struct node *alternate;
	struct error e;

	for (; node != NULL && most-- > 0; node = route_parent(&c->route, node, &e)) {
		node_add(c->lineage, node);
		for (size_t i = 0; (alternate = alternate_at(c, node, i)) != NULL; i++)
			node_add(c->lineage, alternate);
		if (node == map->mapping.entry)
			return;
	}
}

static void view_add(struct lineage *lineage, const struct view *view, bool monitors,
		     const struct node *node)
{
	const struct pathmap *map = lineage->map;
	const struct cluster_map *clusters = &map->clusters;
	struct climb c = {.lineage = lineage, .view = view};
	struct error e;

	route_init(&c.route, map, view, mapping_tree(&map->mapping, view->name), monitors);
	climb_from(&c, node);
	/* As an alternate it is asked by the nodes above the one that it replaces, but not by
	 * that node, nor by other alternates of it. */
	for (size_t i = 0; i < clusters->n_nodes; i++) {
		if (clusters->nodes[i] != map->mapping.entry &&
		    is_alternate(&c, node, clusters->nodes[i]))
			climb_from(&c, route_parent(&c.route, clusters->nodes[i], &e));
	}
	route_fini(&c.route);
}

static bool fetches(const struct pathmap *map, const struct node *node)
{
	return pathmap_fetches(map, node->name);
}

struct lineage *lineage_new(const struct pathmap *map, const char *name)
{
	const struct cluster_map *clusters = &map->clusters;
	const struct node *node = cluster_map_node(clusters, name);
	const struct application *application = &map->application;
	struct lineage *lineage = memory_new(1, sizeof(*lineage));

	lineage->map = map;
	lineage->has = memory_new(clusters->n_nodes, sizeof(*lineage->has));
	if (node == NULL)
		return lineage;
	node_add(lineage, node);
	if (map->mapping.entry != NULL)
		node_add(lineage, map->mapping.entry);
	for (size_t i = 0; i < clusters->n_nodes; i++) {
		if (fetches(map, clusters->nodes[i]))
			node_add(lineage, clusters->nodes[i]);
	}
	for (const struct node *up = node_gateway(node); up != NULL; up = node_gateway(up))
		node_add(lineage, up);
	for (size_t i = 0; i < 2 * application->n_views; i++)
		view_add(lineage, application->views[i / 2], i % 2, node);
	return lineage;
}

bool lineage_has(const struct lineage *lineage, const char *other)
{
	const struct node *node = cluster_map_node(&lineage->map->clusters, other);

	return node != NULL && lineage->has[node->index];
}

void lineage_free(struct lineage *lineage)
{
	if (lineage == NULL)
		return;
	free(lineage->has);
	free(lineage);
}
