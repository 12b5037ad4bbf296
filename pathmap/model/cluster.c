/* SPDX-License-Identifier: BSD-3-Clause */
/* The cluster map as data: nodes by name, gateways, links. */
#include "pathmap/model/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/cluster-read.h"
#include "pathmap/base/memory.h"

struct cluster *cluster_new(struct cluster_map *map, const char *name)
{
	struct cluster *cluster = memory_new(1, sizeof(*cluster));

	cluster->name = memory_copy(name);
	if (name != NULL) {
		cluster->index = map->n_clusters;
		map->clusters =
			memory_room(map->clusters, map->n_clusters, sizeof(struct cluster *));
		map->clusters[map->n_clusters++] = cluster;
	} else {
		map->blocks = memory_room(map->blocks, map->n_blocks, sizeof(struct cluster *));
		map->blocks[map->n_blocks++] = cluster;
	}
	return cluster;
}

struct node *cluster_node_new(struct cluster_map *map, struct cluster *cluster, const char *name,
			      size_t offset)
{
	struct node *node = memory_new(1, sizeof(*node));

	node->name = memory_copy(name);
	node->address = memory_copy("");
	node->cluster = cluster->name != NULL ? cluster : NULL;
	node->deployment = &cluster->deployment;
	node->index = map->n_nodes;
	node->offset = offset;
	map->nodes = memory_room(map->nodes, map->n_nodes, sizeof(struct node *));
	map->nodes[map->n_nodes++] = node;
	HASH_ADD_KEYPTR(hh, map->by_name, node->name, strlen(node->name), node);
	cluster->nodes = memory_room(cluster->nodes, cluster->n_nodes, sizeof(struct node *));
	cluster->nodes[cluster->n_nodes++] = node;
	return node;
}

void cluster_map_init(struct cluster_map *map, const char *cluster, const char *node)
{
	*map = (struct cluster_map){0};
	cluster_node_new(map, cluster_new(map, cluster), node, 0);
}

static void cluster_free(struct cluster *cluster)
{
	free(cluster->deployment.user);
	free(cluster->deployment.binary);
	free(cluster->deployment.folder);
	free(cluster->deployment.stages);
	free(cluster->nodes);
	free(cluster->name);
	free(cluster);
}

void cluster_map_fini(struct cluster_map *map)
{
	HASH_CLEAR(hh, map->by_name);
	HASH_CLEAR(hh_address, map->by_address);
	for (size_t i = 0; i < map->n_nodes; i++) {
		free(map->nodes[i]->name);
		free(map->nodes[i]->address);
		free(map->nodes[i]->host);
		free(map->nodes[i]);
	}
	for (size_t i = 0; i < map->n_clusters; i++)
		cluster_free(map->clusters[i]);
	for (size_t i = 0; i < map->n_blocks; i++)
		cluster_free(map->blocks[i]);
	for (size_t i = 0; i < map->n_links; i++) {
		free(map->links[i].from);
		free(map->links[i].to);
	}
	free(map->nodes);
	free(map->clusters);
	free(map->blocks);
	free(map->links);
	*map = (struct cluster_map){0};
}

struct node *cluster_map_node(const struct cluster_map *map, const char *name)
{
	struct node *node;

	HASH_FIND_STR(map->by_name, name, node);
	return node;
}

struct node *node_address_set(struct cluster_map *map, struct node *node, const char *address,
			      size_t offset)
{
	size_t length = strlen(address);
	struct node *same;

	HASH_FIND(hh_address, map->by_address, address, length, same);
	if (same != NULL)
		return same;
	free(node->address);
	node->address = memory_copy(address);
	node->address_offset = offset;
	HASH_ADD_KEYPTR(hh_address, map->by_address, node->address, length, node);
	return NULL;
}

struct cluster *cluster_map_cluster(const struct cluster_map *map, const char *name)
{
	for (size_t i = 0; i < map->n_clusters; i++) {
		if (strcmp(map->clusters[i]->name, name) == 0)
			return map->clusters[i];
	}
	return NULL;
}

const char **cluster_map_names(const struct cluster_map *map)
{
	const char **names = memory_new(map->n_nodes, sizeof(*names));

	for (size_t i = 0; i < map->n_nodes; i++)
		names[i] = map->nodes[i]->name;
	return names;
}

struct node *node_gateway(const struct node *node)
{
	if (node->gateway != NULL)
		return node->gateway;
	if (node->cluster != NULL && node->cluster->gateway != node)
		return node->cluster->gateway;
	return NULL;
}

/* Is @name the node, or its cluster? */
static bool node_is_named(const struct node *node, const char *name)
{
	return strcmp(node->name, name) == 0 ||
	       (node->cluster != NULL && strcmp(node->cluster->name, name) == 0);
}

struct cluster_link cluster_map_link(const struct cluster_map *map, const struct node *parent,
				     const struct node *child)
{
	for (size_t i = 0; i < map->n_links; i++) {
		const struct named_link *link = &map->links[i];

		if ((node_is_named(parent, link->from) && node_is_named(child, link->to)) ||
		    (node_is_named(parent, link->to) && node_is_named(child, link->from)))
			return link->link;
	}
	if (child->cluster != NULL &&
	    (parent->cluster == child->cluster || child->cluster->gateway == parent))
		return child->cluster->link;
	return child->link;
}

char *link_text(struct cluster_link link, const char *between)
{
	static const struct {
		double least;
		const char *name;
	} units[] = {
		{1e12, "Tbit/s"}, {1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}};
	char bandwidth[64] = "", latency[64] = "";
	size_t unit = 0;

	while (unit + 1 < sizeof(units) / sizeof(units[0]) && link.bits_per_s < units[unit].least)
		unit++;
	if (link.bits_per_s > 0)
		snprintf(bandwidth, sizeof(bandwidth), "%g %s", link.bits_per_s / units[unit].least,
			 units[unit].name);
	if (link.latency_ns >= 1000000)
		snprintf(latency, sizeof(latency), "%g ms", (double)link.latency_ns * 1e-6);
	else if (link.latency_ns > 0)
		snprintf(latency, sizeof(latency), "%g us", (double)link.latency_ns * 1e-3);
	return memory_format("%s%s%s", bandwidth,
			     *bandwidth != '\0' && *latency != '\0' ? between : "", latency);
}
