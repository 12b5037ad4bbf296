/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes: which node dials each node of a view's tree, by the tree's shape in the mapping. */
#include "pathmap/plan/route.h"

#include <stdio.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"

static bool node_reached(const struct view *view, const struct node *node)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "/%s/%s", node->cluster->name, node->name);
	return view_reaches(view, name);
}

static bool rank_reached(const struct view *view, const struct node *node, size_t rank)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "/%s/%s/rank%zu", node->cluster->name, node->name, rank);
	return view_reaches(view, name);
}

/* Find the nodes that fetch elements from others, where these elements are read. */
static void mirrors_find(struct route *route)
{
	const struct cluster_map *clusters = &route->map->clusters;
	const struct recording *says;
	const char *of;
	bool any = false;

	for (size_t i = 0; i < clusters->n_nodes; i++)
		any = any || route->leaves[i];
	for (size_t i = 0; any && (says = pathmap_remote(route->map, &i, &of)) != NULL;) {
		const struct node *node = cluster_map_node(clusters, says->remote);

		if (node != NULL)
			route->mirrors[node->index] = route->leaves[node->index] = true;
	}
}

static void leaves_find(struct route *route, const struct view *view)
{
	const struct mapping *mapping = &route->map->mapping;
	const struct cluster_map *clusters = &route->map->clusters;

	for (size_t i = 0; i < mapping->n_ranks; i++) {
		const struct node *node = mapping->ranks[i];

		if (node != NULL && !route->leaves[node->index])
			route->leaves[node->index] = route->monitors ? node_reached(view, node)
								     : rank_reached(view, node, i);
	}
	if (mapping->everywhere != NULL)
		route->leaves[mapping->everywhere->index] = node_reached(view, mapping->everywhere);
	for (size_t i = 0; i < clusters->n_nodes && !mapping->places; i++) {
		if (clusters->nodes[i]->cluster != NULL)
			route->leaves[i] = node_reached(view, clusters->nodes[i]);
	}
	mirrors_find(route);
}

/* The node that joins the cluster in trees by cluster. */
static const struct node *head_find(const struct route *route, const struct view *view,
				    const struct cluster *cluster)
{
	const struct node *said = mapping_head(&route->map->mapping, view->name, cluster);
	const struct node *first = NULL;

	if (route->map->mapping.entry->cluster == cluster)
		return route->map->mapping.entry;
	if (said != NULL)
		return said;
	if (cluster->gateway != NULL)
		return cluster->gateway;
	for (size_t i = 0; i < cluster->n_nodes; i++) {
		const struct node *node = cluster->nodes[i];
		bool dialled = !node->unreachable && *node->address != '\0';

		if (route->leaves[node->index] && dialled)
			return node;
		if (first == NULL && (dialled || route->leaves[node->index]))
			first = node;
	}
	return first;
}

/* Is the node the head of its cluster or, if the entry is outside, the cluster's gateway? Then
 * no other node of the cluster dials it, but the gateway dials the head. */
static bool is_above(const struct route *route, const struct node *node)
{
	const struct cluster *cluster = node->cluster;

	return node == route->heads[cluster->index] ||
	       (node == cluster->gateway && route->map->mapping.entry->cluster != cluster);
}

void route_init(struct route *route, const struct pathmap *map, const struct view *view,
		const struct tree *tree, bool monitors)
{
	const struct cluster_map *clusters = &map->clusters;
	size_t n = 0;

	*route = (struct route){
		.map = map,
		.monitors = monitors,
		.tree = tree,
		.leaves = memory_new(clusters->n_nodes, sizeof(*route->leaves)),
		.mirrors = memory_new(clusters->n_nodes, sizeof(*route->mirrors)),
		.heads = memory_new(clusters->n_clusters, sizeof(*route->heads)),
		.positions = memory_new(clusters->n_nodes, sizeof(*route->positions)),
		.followers = memory_new(clusters->n_nodes, sizeof(*route->followers)),
		.first_follower = memory_new(clusters->n_clusters, sizeof(size_t)),
	};
	leaves_find(route, view);
	for (size_t i = 0; i < clusters->n_clusters; i++) {
		const struct cluster *cluster = clusters->clusters[i];

		route->heads[i] = head_find(route, view, cluster);
		route->first_follower[i] = n;
		for (size_t j = 0; j < cluster->n_nodes; j++) {
			const struct node *node = cluster->nodes[j];

			if (!route->leaves[node->index] || is_above(route, node))
				continue;
			route->positions[node->index] = n - route->first_follower[i];
			route->followers[n++] = node;
		}
	}
}

void route_fini(struct route *route)
{
	free(route->leaves);
	free(route->mirrors);
	free(route->heads);
	free(route->positions);
	free(route->followers);
	free(route->first_follower);
}

/* The node that dials it if no other node of its cluster does. */
static const struct node *outer_parent(const struct route *route, const struct node *node)
{
	const struct node *entry = route->map->mapping.entry;
	const struct node *gateway = node_gateway(node);

	if (gateway == NULL || (entry->cluster != NULL && entry->cluster == node->cluster))
		return entry;
	return gateway;
}

static const struct node *cluster_parent(const struct route *route, const struct node *node)
{
	const struct cluster *cluster = node->cluster;
	const struct node *head;
	size_t position;

	if (cluster == NULL || is_above(route, node))
		return outer_parent(route, node);
	head = route->heads[cluster->index];
	position = route->positions[node->index];
	if (route->tree->kind != TREE_FANOUT || !route->leaves[node->index] ||
	    position < route->tree->fanout)
		return head;
	return route->followers[route->first_follower[cluster->index] +
				position / route->tree->fanout - 1];
}

static const struct node *drawn_parent(const struct route *route, const struct node *node,
				       struct error *e)
{
	const struct drawn *drawn = &route->tree->drawn[node->index];
	const struct node *entry = route->map->mapping.entry;

	if (drawn->there)
		return drawn->parent != NULL ? drawn->parent : entry;
	errorf(e, "`%s` is not in the tree drawn by hand, and holds elements of the view; add it",
	       node->name);
	return NULL;
}

const struct node *route_parent(const struct route *route, const struct node *node, struct error *e)
{
	if (route->tree->kind == TREE_BY_HAND)
		return drawn_parent(route, node, e);
	if (route->tree->kind == TREE_FLAT)
		return route->tree->ignoring_gateways ? route->map->mapping.entry
						      : outer_parent(route, node);
	return cluster_parent(route, node);
}
