/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks up the trees of all views from a node, looking for another one. */
#include "pathmap/lineage.h"

#include <string.h>

#include "pathmap/parts.h"
#include "pathmap/route.h"

/* One view's tree, and whom to look for in it. */
struct search {
	const struct mapping *mapping;
	const struct view *view;
	struct route route;
	const struct node *other;
};

static bool is_alternate(const struct search *s, const struct node *by, const struct node *of)
{
	const struct node *alternate;

	for (size_t i = 0;
	     (alternate = mapping_alternate(s->mapping, s->view->name, of, i)) != NULL; i++) {
		if (alternate == by)
			return true;
	}
	return false;
}

/* Is it, or an alternate of it, above @node or an alternate of @node? */
static bool is_above(const struct search *s, const struct node *node)
{
	size_t most = s->route.map->clusters.n_nodes;
	struct error e;

	for (; node != NULL && most-- > 0; node = route_parent(&s->route, node, &e)) {
		if (node == s->other || is_alternate(s, s->other, node))
			return true;
		if (node == s->mapping->entry)
			return false;
	}
	return false;
}

static bool view_has(const struct pathmap *map, const struct view *view, bool monitors,
		     const struct node *node, const struct node *other)
{
	const struct cluster_map *clusters = &map->clusters;
	struct search s = {.mapping = &map->mapping, .view = view, .other = other};
	struct error e;
	bool found;

	route_init(&s.route, map, view, monitors);
	found = is_above(&s, node);
	/* For a node that it stands in for, it is asked by those that are above that one: not by
	 * that node itself, nor by the others that might stand in for it. */
	for (size_t i = 0; i < clusters->n_nodes && !found; i++)
		found = clusters->nodes[i] != map->mapping.entry &&
			is_alternate(&s, node, clusters->nodes[i]) &&
			is_above(&s, route_parent(&s.route, clusters->nodes[i], &e));
	route_fini(&s.route);
	return found;
}

static bool fetches(const struct pathmap *map, const struct node *node)
{
	const struct recording *recordings = map->application.recordings;

	for (size_t i = 0; i < RECORDING_CHANNELS; i++) {
		if (recordings[i].collected && strcmp(recordings[i].remote, node->name) == 0)
			return true;
	}
	return false;
}

bool lineage_has(const struct pathmap *map, const char *name, const char *other_name)
{
	const struct node *node = cluster_map_node(&map->clusters, name);
	const struct node *other = cluster_map_node(&map->clusters, other_name);
	const struct application *application = &map->application;

	if (node == NULL || other == NULL)
		return false;
	if (other == node || other == map->mapping.entry || fetches(map, other))
		return true;
	for (const struct node *up = node_gateway(node); up != NULL; up = node_gateway(up)) {
		if (up == other)
			return true;
	}
	for (size_t i = 0; i < 2 * application->n_views; i++) {
		if (view_has(map, application->views[i / 2], i % 2, node, other))
			return true;
	}
	return false;
}
