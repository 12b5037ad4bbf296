/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates plans: the paper's path generate functions, which make a tree per view of three
 * maps. */
#include "pathmap/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/grammar/directive.h"
#include "pathmap/model/parts.h"
#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan-private.h"
#include "pathmap/plan/wish.h"

static void place_free(struct plan_place *place)
{
	if (place == NULL)
		return;
	for (size_t i = 0; i < place->n_children; i++)
		place_free(place->children[i]);
	for (size_t i = 0; i < place->n_local; i++) {
		free(place->local[i].kind);
		free(place->local[i].args);
	}
	for (size_t i = 0; i < place->n_joined; i++) {
		free(place->joined[i].kind);
		free(place->joined[i].args);
	}
	for (size_t i = 0; i < place->n_alternates; i++) {
		free(place->alternates[i].node);
		free(place->alternates[i].address);
		free(place->alternates[i].pass.data);
	}
	free(place->pass.data);
	free(place->alternates);
	free(place->holds);
	free(place->elsewhere);
	free(place->local);
	free(place->joined);
	free(place->children);
	free(place->node);
	free(place->cluster);
	free(place->address);
	free(place);
}

void plan_free(struct plan *plan)
{
	int saved = errno;

	if (plan == NULL)
		return;
	place_free(plan->root);
	for (size_t i = 0; i < plan->n_select; i++)
		free(plan->select[i]);
	free(plan->select);
	free(plan->view);
	view_free(plan->defined);
	free(plan);
	errno = saved;
}

struct plan_place *plan_place(const struct plan *plan, uint32_t index)
{
	struct plan_place *place = plan->root;

	if (index >= plan->n_places)
		return NULL;
	/* Indexes run in preorder: the place is below the last child whose index is not greater. */
	while (place->index != index) {
		size_t low = 0, high = place->n_children;

		while (high - low > 1) {
			size_t middle = low + (high - low) / 2;

			if (place->children[middle]->index <= index)
				low = middle;
			else
				high = middle;
		}
		place = place->children[low];
	}
	return place;
}

static uint32_t places_number(struct plan_place *root)
{
	uint32_t n = 0;

	PLAN_FOREACH (walk, root)
		walk.place->index = n++;
	return n;
}

static struct plan_place *place_new(const struct node *node)
{
	struct plan_place *place = memory_new(1, sizeof(*place));

	place->node = memory_copy(node->name);
	place->cluster = memory_copy(node->cluster != NULL ? node->cluster->name : "");
	place->address = memory_copy(node->address);
	place->holds = memory_copy("");
	return place;
}

/* The node's site, whose place and all places above it are made if missing. NULL with the reason
 * in @e. */
static struct plan_site *site_get(struct plan_builder *builder, const struct node *node,
				  struct error *e)
{
	struct plan_site *site = &builder->sites[node->index];
	const struct node *above;
	struct plan_place *parent;

	if (site->place != NULL)
		return site;
	if (node == builder->map->mapping.entry) {
		site->place = builder->plan->root = place_new(node);
		return site;
	}
	above = route_parent(&builder->route, node, e);
	if (above == NULL)
		return NULL;
	site->parent = site_get(builder, above, e);
	if (site->parent == NULL)
		return NULL;
	site->depth = site->parent->depth + 1;
	site->place = place_new(node);
	parent = site->parent->place;
	parent->children =
		memory_room(parent->children, parent->n_children, sizeof(struct plan_place *));
	parent->children[parent->n_children++] = site->place;
	if (node_gateway(node) == above && !builder->route.tree->ignoring_gateways)
		parent->gateway = true;
	return site;
}

/* Set how the tree is run at hosts with children. */
static void runs_set(struct plan_builder *builder)
{
	const struct cluster_map *clusters = &builder->map->clusters;
	const struct mapping *mapping = &builder->map->mapping;

	for (size_t i = 0; i < clusters->n_nodes; i++) {
		struct plan_place *place = builder->sites[i].place;
		const struct node *by;

		if (place == NULL || place->n_children == 0)
			continue;
		place->concurrency = builder->route.tree->concurrency;
		while ((by = mapping_alternate(mapping, builder->view->name, clusters->nodes[i],
					       place->n_alternates)) != NULL) {
			place->alternates = memory_room(place->alternates, place->n_alternates,
							sizeof(*place->alternates));
			place->alternates[place->n_alternates++] = (struct plan_alternate){
				.node = memory_copy(by->name),
				.address = memory_copy(by->address),
			};
		}
	}
}

static void leaf_place(const struct plan_builder *builder, size_t node, struct plan_place *place)
{
	place->leaf = true;
	place->own = !builder->route.mirrors[node];
	plan_stages_copy(builder, LEVEL_NODE, &place->local, &place->n_local);
}

/* Every host of the tree has a monitor, also without ranks. */
static void monitors_place(const struct plan_builder *builder)
{
	for (size_t i = 0; i < builder->map->clusters.n_nodes; i++) {
		struct plan_place *place = builder->sites[i].place;

		if (place != NULL && !place->leaf)
			leaf_place(builder, i, place);
	}
}

static int leaves_place(struct plan_builder *builder, struct error *e)
{
	const struct cluster_map *clusters = &builder->map->clusters;
	size_t n_leaves = 0;

	if (site_get(builder, builder->map->mapping.entry, e) == NULL)
		return -1;
	for (size_t i = 0; i < clusters->n_nodes; i++) {
		struct plan_site *site;

		if (!builder->route.leaves[i])
			continue;
		site = site_get(builder, clusters->nodes[i], e);
		if (site == NULL)
			return -1;
		n_leaves++;
		leaf_place(builder, i, site->place);
	}
	if (n_leaves == 0)
		return errorf(e,
			      "view `%s` selects nothing: no node holds ranks whose elements could "
			      "match `%s`; names are like /%s/%s/rank0/t0/p2p",
			      builder->view->name, builder->view->select[0],
			      clusters->n_clusters > 0 ? clusters->clusters[0]->name : "CLUSTER",
			      clusters->n_clusters > 0 && clusters->clusters[0]->n_nodes > 0
				      ? clusters->clusters[0]->nodes[0]->name
				      : "NODE");
	if (builder->route.monitors)
		monitors_place(builder);
	plan_stages_joined(builder);
	plan_stages_early(builder);
	runs_set(builder);
	return 0;
}

static int view_unknown(const struct pathmap *map, const char *name, struct error *e)
{
	const char *const *views, *nearest;
	size_t length = 0, n = pathmap_views(map, &views);
	char names[512] = "";

	errno = ENOENT;
	nearest = word_nearest(name, views, n);
	if (nearest)
		return errorf(e, "no view `%.60s`; did you mean `%s`?", name, nearest);
	for (size_t i = 0; i < n && length < sizeof(names); i++)
		length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s",
					   i > 0 ? ", " : "", views[i]);
	return errorf(e, "no view `%.60s`; there are %s", name, names);
}

/* Find the view of the wish, or read it. Returns 0, or -1 with errno and @e. */
static int plan_view(struct plan *plan, const struct pathmap *map, const struct plan_wish *wish,
		     struct error *e)
{
	const char *at = strrchr(wish->view, '@');

	if (wish->definition.text == NULL) {
		plan->of = application_view_to(&map->application, wish->view, &plan->top);
		plan->view = memory_copy(wish->view);
		return plan->of != NULL ? 0 : view_unknown(map, wish->view, e);
	}
	errno = ENOENT;
	if (!view_top(wish->view, &plan->top))
		return errorf(e, "no level `%.60s`; there are element, thread, node, cluster, all",
			      at + 1);
	plan->defined = definition_read(&wish->definition, map, NULL, NULL, e);
	plan->of = plan->defined;
	plan->view = memory_format("%s%s", DEFINITION_VIEW, at != NULL ? at : "");
	return plan->of != NULL ? 0 : -1;
}

static int plan_build(struct plan *plan, const struct pathmap *map, const struct plan_wish *wish,
		      struct error *e)
{
	const struct view *view = plan->of;
	struct plan_builder builder = {.map = map, .view = view, .plan = plan};
	struct tree tree;
	int result;

	if (wish_tree(&tree, map, view->name, wish, e) < 0)
		return -1;
	plan->reading = view->reading;
	for (size_t i = 0; i < view->n_select; i++) {
		plan->select = memory_room(plan->select, i, sizeof(char *));
		plan->select[plan->n_select++] = memory_copy(view->select[i]);
	}
	builder.sites = memory_new(map->clusters.n_nodes, sizeof(*builder.sites));
	route_init(&builder.route, map, view, &tree, wish->monitors);
	result = leaves_place(&builder, e);
	route_fini(&builder.route);
	free(builder.sites);
	errno = EINVAL;
	if (result < 0)
		return -1;
	if (wish->tree != NULL && wish_reaches(plan, map, e) < 0)
		return -1;
	errno = EINVAL;
	plan->n_places = places_number(plan->root);
	if (plan->n_places > PLAN_PLACES)
		return errorf(e, "the tree of view `%s` has %zu hosts; at most %u are possible",
			      plan->view, plan->n_places, PLAN_PLACES);
	return 0;
}

int plan_make_wish(const struct pathmap *map, const struct plan_wish *wish, struct plan **plan,
		   struct error *e)
{
	struct plan *made = memory_new(1, sizeof(*made));

	if (plan_view(made, map, wish, e) < 0 || plan_build(made, map, wish, e) < 0) {
		plan_free(made);
		return -1;
	}
	*plan = made;
	return 0;
}

int plan_make(const struct pathmap *map, const char *view, struct plan **plan, struct error *e)
{
	return plan_make_wish(map, &(struct plan_wish){.view = view}, plan, e);
}

/* ---- paths between agents ---- */

static bool holds_ranks(const struct mapping *mapping, const struct node *node)
{
	if (!mapping->places)
		return node->cluster != NULL;
	for (size_t i = 0; i < mapping->n_ranks; i++) {
		if (mapping->ranks[i] == node)
			return true;
	}
	return mapping->everywhere == node;
}

struct plan_place *plan_way(const struct pathmap *map, const char *from, const char *to)
{
	const struct node *first = cluster_map_node(&map->clusters, from);
	const struct node *node = cluster_map_node(&map->clusters, to), *gateway;
	struct plan_place *place, *above;

	if (first == NULL || node == NULL || first == node || !holds_ranks(&map->mapping, node))
		return NULL;
	place = place_new(node);
	place->leaf = true;
	while (node != first) {
		gateway = node_gateway(node);
		if (gateway == NULL || (node->cluster != NULL && node->cluster == first->cluster))
			gateway = first;
		node = gateway;
		above = place_new(node);
		above->children = memory_room(above->children, 0, sizeof(struct plan_place *));
		above->children[above->n_children++] = place;
		place = above;
	}
	places_number(place);
	return place;
}

/* The node that dials @node in a tree of agents, not of ranks. */
static const struct node *node_above(const struct node *node, const struct node *entry)
{
	const struct node *gateway = node_gateway(node);

	if (gateway == NULL || (node->cluster != NULL && node->cluster == entry->cluster))
		return entry;
	return gateway;
}

struct plan_place *plan_all(const struct pathmap *map)
{
	const struct cluster_map *clusters = &map->clusters;
	const struct node *entry = map->mapping.entry;
	struct plan_place **places = memory_new(clusters->n_nodes, sizeof(struct plan_place *));
	struct plan_place *above, *root;

	for (size_t i = 0; i < clusters->n_nodes; i++) {
		places[i] = place_new(clusters->nodes[i]);
		places[i]->index = (uint32_t)i;
	}
	for (size_t i = 0; i < clusters->n_nodes; i++) {
		if (clusters->nodes[i] == entry)
			continue;
		above = places[node_above(clusters->nodes[i], entry)->index];
		above->children = memory_room(above->children, above->n_children,
					      sizeof(struct plan_place *));
		above->children[above->n_children++] = places[i];
	}
	root = places[entry->index];
	free(places);
	return root;
}

void plan_way_free(struct plan_place *way)
{
	place_free(way);
}
