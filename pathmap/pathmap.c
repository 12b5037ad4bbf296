/* SPDX-License-Identifier: BSD-3-Clause */
/* The pathmap: application, cluster and mapping maps, read, checked against each other, immutable.
 */
#include "pathmap/pathmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"
#include "pathmap/parts.h"
#include "pathmap/plan.h"
#include "pathmap/rank.h"

static void names_fill(struct pathmap *map)
{
	map->node_names = memory_new(map->clusters.n_nodes, sizeof(*map->node_names));
	for (size_t i = 0; i < map->clusters.n_nodes; i++)
		map->node_names[i] = map->clusters.nodes[i]->name;
	map->view_names = memory_new(map->application.n_views, sizeof(*map->view_names));
	for (size_t i = 0; i < map->application.n_views; i++)
		map->view_names[i] = map->application.views[i]->name;
}

/* Can each place of the plan be dialled from the one above it? Each node is complained of once. */
static void places_check(const struct pathmap *map, const struct plan_place *parent,
			 const struct source *source, bool *complained,
			 struct complaints *complaints)
{
	const struct node *from = cluster_map_node(&map->clusters, parent->node);

	for (size_t i = 0; i < parent->n_children; i++) {
		const struct plan_place *place = parent->children[i];
		const struct node *node = cluster_map_node(&map->clusters, place->node);

		if (complained[node->index]) {
			/* Once is enough. */
		} else if (*place->address == '\0') {
			complained[node->index] = true;
			complain(complaints, source, node->offset,
				 "`%s` has no address, and `%s` has to dial it; add `address "
				 "HOST:PORT;`",
				 place->node, parent->node);
		} else if (node->unreachable && from->cluster != node->cluster &&
			   node->cluster->gateway != from) {
			complained[node->index] = true;
			complain(complaints, source, node->offset,
				 "`%s` is unreachable from outside `%s`, and `%s` has to dial it; "
				 "give "
				 "the cluster a gateway, or join it on another node",
				 place->node, place->cluster, parent->node);
		}
		places_check(map, place, source, complained, complaints);
	}
}

/* Generate every view's plan once, to see that it can be. */
static void plans_check(const struct pathmap *map, const struct source *sources,
			struct complaints *complaints)
{
	bool *complained = memory_new(map->clusters.n_nodes, sizeof(*complained));

	for (size_t i = 0; i < map->application.n_views; i++) {
		const struct view *view = map->application.views[i];
		const struct tree *tree = mapping_tree(&map->mapping, view->name);
		struct plan *plan;
		struct error e;

		if (plan_make(map, view->name, &plan, &e) == 0) {
			places_check(map, plan->root, &sources[SOURCE_CLUSTER], complained,
				     complaints);
			plan_free(plan);
		} else if (tree->said && !view->shipped) {
			complain(complaints, &sources[SOURCE_MAPPING], tree->offset, "%s", e.text);
		} else {
			complain_file(complaints, &sources[SOURCE_MAPPING], "%s", e.text);
		}
	}
	free(complained);
}

struct pathmap *pathmap_make(const struct source sources[SOURCE_COUNT], pathmap_stage_check *check,
			     struct complaints *complaints)
{
	struct pathmap *map = memory_new(1, sizeof(*map));

	if (sources[SOURCE_APPLICATION].usable)
		application_read(&map->application, &sources[SOURCE_APPLICATION], check,
				 complaints);
	else
		application_init(&map->application, "");
	if (sources[SOURCE_CLUSTER].usable)
		cluster_map_read(&map->clusters, &sources[SOURCE_CLUSTER], complaints);
	else
		map->clusters.incomplete = true;
	if (sources[SOURCE_MAPPING].usable)
		mapping_read(&map->mapping, &sources[SOURCE_MAPPING], &map->application,
			     &map->clusters, complaints);
	if (complaints->total == 0)
		plans_check(map, sources, complaints);
	if (complaints->total > 0) {
		pathmap_free(map);
		return NULL;
	}
	names_fill(map);
	return map;
}

struct pathmap *pathmap_load(const char *dir, pathmap_stage_check *check, FILE *complaints_out,
			     struct error *e)
{
	static const char *const names[SOURCE_COUNT] = {
		[SOURCE_APPLICATION] = "application.map",
		[SOURCE_CLUSTER] = "cluster.map",
		[SOURCE_MAPPING] = "mapping.map",
	};
	struct source sources[SOURCE_COUNT];
	struct complaints complaints = {0};
	struct pathmap *map;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		source_read(&sources[i], dir, names[i], &complaints);
	map = pathmap_make(sources, check, &complaints);
	if (complaints_out != NULL)
		complaints_print(&complaints, complaints_out);
	if (map == NULL) {
		errorf(e, "%zu error%s in %s", complaints.total, complaints.total == 1 ? "" : "s",
		       dir);
		errno = EINVAL;
	}
	complaints_fini(&complaints);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		source_fini(&sources[i]);
	return map;
}

struct pathmap *pathmap_local(const char *node)
{
	struct pathmap *map = memory_new(1, sizeof(*map));

	application_init(&map->application, "local");
	cluster_map_init(&map->clusters, "local", node);
	map->mapping.entry = map->clusters.nodes[0];
	map->mapping.everywhere = map->clusters.nodes[0];
	map->mapping.places = true;
	names_fill(map);
	return map;
}

void pathmap_free(struct pathmap *map)
{
	int saved = errno;

	if (map == NULL)
		return;
	application_fini(&map->application);
	cluster_map_fini(&map->clusters);
	mapping_fini(&map->mapping);
	free(map->node_names);
	free(map->view_names);
	free(map);
	errno = saved;
}

const char *pathmap_application(const struct pathmap *map)
{
	return map->application.name;
}

unsigned pathmap_ranks(const struct pathmap *map)
{
	return map->application.ranks;
}

unsigned pathmap_capacity(const struct pathmap *map, const char *channel)
{
	int number = application_channel(channel);

	if (number < 0 || !map->application.collected[number])
		return 0;
	return map->application.capacities[number];
}

bool pathmap_rank_on(const struct pathmap *map, unsigned rank, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	return found != NULL && mapping_rank_on(&map->mapping, rank, found);
}

bool pathmap_places_ranks(const struct pathmap *map)
{
	return map->mapping.places;
}

const char *pathmap_address(const struct pathmap *map, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	return found != NULL ? found->address : NULL;
}

const char *pathmap_cluster(const struct pathmap *map, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	if (found == NULL)
		return NULL;
	return found->cluster != NULL ? found->cluster->name : "";
}

const char *pathmap_entry(const struct pathmap *map)
{
	return map->mapping.entry->name;
}

size_t pathmap_nodes(const struct pathmap *map, const char *const **names)
{
	*names = map->node_names;
	return map->clusters.n_nodes;
}

size_t pathmap_views(const struct pathmap *map, const char *const **names)
{
	*names = map->view_names;
	return map->application.n_views;
}
