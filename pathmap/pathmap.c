/* SPDX-License-Identifier: BSD-3-Clause */
/* The pathmap: three maps, read, checked against each other, immutable. */
#include "pathmap/model/pathmap.h"

#include <errno.h>
#include <unistd.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/parts.h"
#include "pathmap/plan/made.h"
#include "pathmap/plan/plan.h"
#include "pathmap/plan/rules.h"
#include "pathmap/plan/steer.h"

static void names_fill(struct pathmap *map)
{
	map->node_names = cluster_map_names(&map->clusters);
	map->view_names = application_view_names(&map->application);
}

/* Is @node behind a gateway that @from would bypass, although the tree does not ignore gateways? */
static bool goes_round(const struct tree *tree, const struct node *from, const struct node *node)
{
	const struct node *gateway = node_gateway(node);

	if (gateway == NULL || gateway == from || tree->ignoring_gateways)
		return false;
	return node->cluster == NULL || from->cluster != node->cluster;
}

/* Report it if the place cannot be dialled from the one above. Returns whether it can. */
static bool place_check(const struct pathmap *map, const struct tree *tree,
			const struct plan_place *parent, const struct plan_place *place,
			const struct mapfile *sources, struct diagnostics *diagnostics)
{
	const struct node *from = cluster_map_node(&map->clusters, parent->node);
	const struct node *node = cluster_map_node(&map->clusters, place->node);

	if (*place->address == '\0') {
		complain(diagnostics, &sources[SOURCE_CLUSTER], node->offset,
			 "`%s` has no address, and `%s` has to dial it; add `address HOST:PORT;`",
			 place->node, parent->node);
		return false;
	}
	if (goes_round(tree, from, node)) {
		complain(diagnostics, &sources[SOURCE_MAPPING],
			 tree->kind == TREE_BY_HAND ? tree->drawn[node->index].offset
						    : tree->offset,
			 "`%s` is below `%s`, and can be reached only through its gateway `%s`; "
			 "draw "
			 "it below that",
			 place->node, parent->node, node_gateway(node)->name);
		return false;
	}
	if (node->unreachable && from->cluster != node->cluster && node->cluster->gateway != from) {
		complain(diagnostics, &sources[SOURCE_CLUSTER], node->offset,
			 "`%s` is unreachable from outside `%s`, and `%s` has to dial it; give the "
			 "cluster a gateway, or have another node join it",
			 place->node, place->cluster, parent->node);
		return false;
	}
	return true;
}

static void places_check(const struct pathmap *map, const struct tree *tree,
			 const struct plan_place *root, const struct mapfile *sources,
			 bool *complained, struct diagnostics *diagnostics)
{
	PLAN_FOREACH (walk, root) {
		size_t index = cluster_map_node(&map->clusters, walk.place->node)->index;

		/* once for each node is enough, as views have similar trees */
		if (walk.parent != NULL && !complained[index])
			complained[index] = !place_check(map, tree, walk.parent, walk.place,
							 sources, diagnostics);
	}
}

/* The entry is the root of every tree, so a tree drawn by hand must not have it below a node. */
static void entry_check(const struct pathmap *map, const struct tree *tree,
			const struct mapfile *sources, struct diagnostics *diagnostics)
{
	const struct node *entry = map->mapping.entry;

	if (tree->kind == TREE_BY_HAND && tree->drawn[entry->index].parent != NULL)
		complain(diagnostics, &sources[SOURCE_MAPPING], tree->drawn[entry->index].offset,
			 "`%s` is the entry, and below `%s` here; the entry is the root, draw what "
			 "is "
			 "below it",
			 entry->name, tree->drawn[entry->index].parent->name);
}

/* Generate every view's plan once, to check that it is possible. */
static void plans_check(const struct pathmap *map, const struct mapfile *sources,
			struct diagnostics *diagnostics)
{
	bool *complained = memory_new(map->clusters.n_nodes, sizeof(*complained));
	bool fine = diagnostics->total == 0;
	size_t before;

	entry_check(map, &map->mapping.tree, sources, diagnostics);
	for (size_t i = 0; i < map->mapping.n_views; i++)
		entry_check(map, &map->mapping.views[i].tree, sources, diagnostics);
	before = diagnostics->total;
	for (size_t i = 0; i < map->application.n_views; i++) {
		const struct view *view = map->application.views[i];
		const struct tree *tree = mapping_tree(&map->mapping, view->name);
		struct plan *plan;
		struct error e;

		if (plan_make(map, view->name, &plan, &e) == 0) {
			places_check(map, tree, plan->root, sources, complained, diagnostics);
			plan_free(plan);
		} else if (!fine) {
			/* may be the consequence of an earlier fault */
		} else if (tree->kind == TREE_BY_HAND) {
			complain(diagnostics, &sources[SOURCE_MAPPING], tree->offset, "%s", e.text);
		} else if (view->quiet && diagnostics->total > before) {
			/* a fault of one shipped view is one of all */
		} else if (view->shipped) {
			complain_file(diagnostics, &sources[SOURCE_MAPPING], "%s", e.text);
		} else {
			complain(diagnostics, &sources[SOURCE_APPLICATION], view->offset, "%s",
				 e.text);
		}
	}
	free(complained);
}

/* The node that fetches elements must exist, and reach the nodes that it fetches from. */
static void remote_check(const struct pathmap *map, const struct recording *recording,
			 const struct mapfile *sources, bool *complained,
			 struct diagnostics *diagnostics)
{
	if (cluster_map_node(&map->clusters, recording->remote) == NULL) {
		complain(diagnostics, &sources[SOURCE_APPLICATION], recording->remote_offset,
			 "no node `%s` in cluster.map to fetch elements to; name one that is there",
			 recording->remote);
		return;
	}
	for (size_t i = 0; i < map->clusters.n_nodes; i++) {
		struct plan_place *way =
			plan_way(map, recording->remote, map->clusters.nodes[i]->name);

		if (way != NULL)
			places_check(map, &map->mapping.tree, way, sources, complained,
				     diagnostics);
		plan_way_free(way);
	}
}

static void remotes_check(const struct pathmap *map, const struct mapfile *sources,
			  struct diagnostics *diagnostics)
{
	bool *complained = memory_new(map->clusters.n_nodes, sizeof(*complained));
	const struct recording *says, *before;
	const char *of;

	/* a block of several channels or patterns has it only once */
	for (size_t i = 0; (says = pathmap_remote(map, &i, &of)) != NULL;) {
		size_t k = 0;

		do
			before = pathmap_remote(map, &k, &of);
		while (before->remote_offset != says->remote_offset);
		if (before == says)
			remote_check(map, says, sources, complained, diagnostics);
	}
	free(complained);
}

struct pathmap *pathmap_make(const struct mapfile sources[SOURCE_COUNT], pathmap_stage_check *check,
			     struct diagnostics *diagnostics)
{
	struct pathmap *map = memory_new(1, sizeof(*map));

	if (sources[SOURCE_APPLICATION].usable)
		application_read(&map->application, &sources[SOURCE_APPLICATION], check,
				 diagnostics);
	else
		application_init(&map->application, "", check);
	if (sources[SOURCE_CLUSTER].usable)
		cluster_map_read(&map->clusters, &sources[SOURCE_CLUSTER], diagnostics);
	else
		map->clusters.incomplete = true;
	if (sources[SOURCE_MAPPING].usable)
		mapping_read(&map->mapping, &sources[SOURCE_MAPPING], &map->application,
			     &map->clusters, diagnostics);
	if (map->mapping.entry != NULL && !map->clusters.incomplete) {
		remotes_check(map, sources, diagnostics);
		plans_check(map, sources, diagnostics);
		if (diagnostics->total == 0)
			rules_check(map, &sources[SOURCE_APPLICATION], diagnostics);
		if (diagnostics->total == 0)
			steer_check(map, &sources[SOURCE_MAPPING], diagnostics);
		if (diagnostics->total == 0)
			made_check(map, &sources[SOURCE_APPLICATION], diagnostics);
	}
	if (diagnostics->total > 0) {
		pathmap_free(map);
		return NULL;
	}
	names_fill(map);
	return map;
}

/* Where diagnostics go: to a stream, to a function, or nowhere. */
struct outlet {
	FILE *stream;
	pathmap_report *report;
	void *arg;
};

static void complaints_deliver(const struct diagnostics *diagnostics, const struct outlet *outlet)
{
	if (outlet->stream != NULL)
		diagnostics_print(diagnostics, outlet->stream);
	for (size_t i = 0; i < diagnostics->kept && outlet->report != NULL; i++) {
		const struct diagnostic *diagnostic = &diagnostics->items[i];
		struct pathmap_fault fault = {
			.file = diagnostic->source->file,
			.line = diagnostic->line,
			.column = diagnostic->column,
			.text = diagnostic->text,
		};

		outlet->report(&fault, outlet->arg);
	}
}

static struct pathmap *pathmap_read(const char *dir, pathmap_stage_check *check,
				    const struct outlet *outlet, struct error *e)
{
	static const char *const names[SOURCE_COUNT] = {
		[SOURCE_APPLICATION] = "application.map",
		[SOURCE_CLUSTER] = "cluster.map",
		[SOURCE_MAPPING] = "mapping.map",
	};
	struct mapfile sources[SOURCE_COUNT];
	struct diagnostics diagnostics = {0};
	struct pathmap *map;

	/* once, and not for each file */
	if (access(dir, F_OK) < 0) {
		errorf(e,
		       "%s: %s; a pathmap is a directory with application.map, cluster.map and "
		       "mapping.map",
		       dir, strerror(errno));
		return NULL;
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_read(&sources[i], dir, names[i], &diagnostics);
	map = pathmap_make(sources, check, &diagnostics);
	diagnostics_sort(&diagnostics);
	complaints_deliver(&diagnostics, outlet);
	if (map == NULL) {
		errorf(e, "%zu%s error%s in %s", diagnostics.kept,
		       diagnostics.kept == COMPLAINTS_SHOWN ? " or more" : "",
		       plural(diagnostics.kept, "s"), dir);
		errno = EINVAL;
	}
	diagnostics_fini(&diagnostics);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_fini(&sources[i]);
	return map;
}

struct pathmap *pathmap_load(const char *dir, pathmap_stage_check *check, FILE *diagnostics,
			     struct error *e)
{
	struct outlet outlet = {.stream = diagnostics};

	return pathmap_read(dir, check, &outlet, e);
}

struct pathmap *pathmap_examine(const char *dir, pathmap_stage_check *check, pathmap_report *report,
				void *arg, struct error *e)
{
	struct outlet outlet = {.report = report, .arg = arg};

	return pathmap_read(dir, check, &outlet, e);
}

struct pathmap *pathmap_local(const char *node, pathmap_stage_check *check)
{
	struct pathmap *map = memory_new(1, sizeof(*map));

	application_init(&map->application, "local", check);
	cluster_map_init(&map->clusters, "local", node);
	map->mapping.entry = map->clusters.nodes[0];
	map->mapping.everywhere = map->clusters.nodes[0];
	map->mapping.places = true;
	names_fill(map);
	return map;
}
