/* SPDX-License-Identifier: BSD-3-Clause */
/* Pathmaps for tests: from texts in memory, and what must be true of every plan. */
#include "tests/maps.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/model/pattern.h"

struct pathmap *maps_make(const struct map_text texts[3], pathmap_stage_check *check,
			  FILE *complaints_out)
{
	static const char *const names[] = {"application.map", "cluster.map", "mapping.map"};
	struct mapfile sources[SOURCE_COUNT];
	struct diagnostics diagnostics = {0};
	struct pathmap *map;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_set(&sources[i], names[i], texts[i].text, texts[i].length, &diagnostics);
	map = pathmap_make(sources, check, &diagnostics);
	diagnostics_sort(&diagnostics);
	if (complaints_out != NULL)
		diagnostics_print(&diagnostics, complaints_out);
	diagnostics_fini(&diagnostics);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_fini(&sources[i]);
	return map;
}

struct pathmap *maps_make_of(const char *application, const char *cluster, const char *mapping,
			     FILE *diagnostics)
{
	const struct map_text texts[3] = {
		{application, strlen(application)},
		{cluster, strlen(cluster)},
		{mapping, strlen(mapping)},
	};

	return maps_make(texts, NULL, diagnostics);
}

struct verifier {
	const struct plan *plan;
	const struct pathmap *map;
	const struct view *view;
	const struct plan_place **places; /* by index */
	const struct plan_place **sorted; /* by name */
	size_t n;
	struct error *e;
};

/* The level on whose host the mapping puts the stages of @level. */
static enum level where(const struct verifier *v, enum level level)
{
	return mapping_stage_place(&v->map->mapping, v->view->name, level);
}

/* The stages of the view that run on hosts of this level. */
static size_t stages_at(const struct verifier *v, enum level place)
{
	size_t n = 0;

	for (size_t i = 0; i < v->view->n_stages; i++)
		n += where(v, v->view->stages[i].level) == place;
	return n;
}

static size_t joined_at(const struct verifier *v, const struct plan_place *at, enum level place)
{
	size_t n = 0;

	for (size_t i = 0; i < at->n_joined && !at->early; i++)
		n += where(v, at->joined[i].level) == place;
	return n;
}

static int collect(struct verifier *v, const struct plan_place *place)
{
	if (v->n >= v->plan->n_places || place->index != v->n)
		return errorf(v->e, "%s has index %u instead of %zu", place->node, place->index,
			      v->n);
	if (plan_place(v->plan, place->index) != place)
		return errorf(v->e, "plan_place(%u) is not %s", place->index, place->node);
	v->places[v->n++] = place;
	for (size_t i = 0; i < place->n_children; i++) {
		if (collect(v, place->children[i]) < 0)
			return -1;
	}
	return 0;
}

static int by_name(const void *left, const void *right)
{
	const struct plan_place *const *a = left, *const *b = right;

	return strcmp((*a)->node, (*b)->node);
}

static int hosts_once(const struct verifier *v)
{
	memcpy(v->sorted, v->places, v->n * sizeof(struct plan_place *));
	qsort(v->sorted, v->n, sizeof(struct plan_place *), by_name);
	for (size_t i = 1; i < v->n; i++) {
		if (strcmp(v->sorted[i - 1]->node, v->sorted[i]->node) == 0)
			return errorf(v->e, "%s is in the plan twice", v->sorted[i]->node);
	}
	return 0;
}

static bool is_leaf(const struct verifier *v, const char *node)
{
	struct plan_place wanted = {.node = (char *)(uintptr_t)node};
	const struct plan_place *key = &wanted;
	const struct plan_place **found =
		bsearch(&key, v->sorted, v->n, sizeof(struct plan_place *), by_name);

	return found != NULL && (*found)->leaf;
}

static int place_verify(const struct verifier *v, const struct plan_place *place)
{
	const char *address = pathmap_address(v->map, place->node);

	if (address == NULL || strcmp(address, place->address) != 0 ||
	    strcmp(pathmap_cluster(v->map, place->node), place->cluster) != 0)
		return errorf(v->e, "%s has another address or cluster", place->node);
	if (place->index > 0 && *place->address == '\0')
		return errorf(v->e, "%s has no address", place->node);
	if (place->index > 0 && place->n_children == 0 && !place->leaf)
		return errorf(v->e, "%s is asked in vain", place->node);
	if (place->leaf && *place->cluster == '\0')
		return errorf(v->e, "%s is a leaf outside clusters", place->node);
	if (place->n_local != (place->leaf ? stages_at(v, LEVEL_NODE) : 0))
		return errorf(v->e, "%s has %zu local stages", place->node, place->n_local);
	if (joined_at(v, place, LEVEL_ALL) != (place->index == 0 ? stages_at(v, LEVEL_ALL) : 0))
		return errorf(v->e, "%s has the wrong stages of the entry", place->node);
	for (size_t i = 1; i < place->n_joined; i++) {
		if (place->joined[i].level < place->joined[i - 1].level)
			return errorf(v->e, "%s has stages out of order", place->node);
	}
	return 0;
}

/* What runs early is the first stage of the next host above that has any, and folds. */
static int early_verify(const struct verifier *v, const struct plan_place *place,
			const struct plan_place *above)
{
	const struct plan_stage *stage = place->early ? &place->joined[0] : NULL;

	if (stage != NULL &&
	    (place->n_joined != 1 || place->n_children == 0 || !stage->traits.folds ||
	     above == NULL || strcmp(stage->kind, above->joined[0].kind) != 0 ||
	     strcmp(stage->args, above->joined[0].args) != 0 ||
	     stage->level != above->joined[0].level || where(v, stage->level) != stage->level))
		return errorf(v->e, "%s has a stage too early", place->node);
	if (place->n_joined > 0 && !place->early)
		above = place;
	for (size_t i = 0; i < place->n_children; i++) {
		if (early_verify(v, place->children[i], above) < 0)
			return -1;
	}
	return 0;
}

/* On each way up from a leaf there are all stages that run at clusters once. @above: so far. */
static int cluster_stages_verify(const struct verifier *v, const struct plan_place *place,
				 size_t above)
{
	size_t here = above + joined_at(v, place, LEVEL_CLUSTER);

	if (place->leaf && here != stages_at(v, LEVEL_CLUSTER))
		return errorf(v->e, "%zu stages that run at clusters above %s", here, place->node);
	for (size_t i = 0; i < place->n_children; i++) {
		if (cluster_stages_verify(v, place->children[i], here) < 0)
			return -1;
	}
	return 0;
}

/* All that is placed and selected is below some leaf. */
static int ranks_verify(const struct verifier *v)
{
	for (unsigned rank = 0; rank < pathmap_ranks(v->map); rank++) {
		const char *node = pathmap_rank_node(v->map, rank);
		bool reached = false;
		char name[NAME_BYTES];

		if (node == NULL)
			continue;
		snprintf(name, sizeof(name), "/%s/%s/rank%u", pathmap_cluster(v->map, node), node,
			 rank);
		for (size_t i = 0; i < v->plan->n_select; i++)
			reached = reached || pattern_reaches(v->plan->select[i], name);
		if (reached && !is_leaf(v, node))
			return errorf(v->e, "%s is not reached", name);
	}
	return 0;
}

int plan_verify(const struct plan *plan, const struct pathmap *map, struct error *e)
{
	struct verifier v = {
		.plan = plan,
		.map = map,
		.view = plan->of,
		.places = memory_new(plan->n_places, sizeof(struct plan_place *)),
		.sorted = memory_new(plan->n_places, sizeof(struct plan_place *)),
		.e = e,
	};
	int result = collect(&v, plan->root);

	if (result == 0 && v.n != plan->n_places)
		result = errorf(e, "%zu places instead of %zu", v.n, plan->n_places);
	if (result == 0 && plan_place(plan, (uint32_t)v.n) != NULL)
		result = errorf(e, "there is a place behind the last");
	if (result == 0 && strcmp(plan->root->node, pathmap_entry(map)) != 0)
		result = errorf(e, "%s is the root", plan->root->node);
	for (size_t i = 0; i < v.n && result == 0; i++)
		result = place_verify(&v, v.places[i]);
	if (result == 0)
		result = hosts_once(&v);
	if (result == 0)
		result = cluster_stages_verify(&v, plan->root, 0);
	if (result == 0)
		result = early_verify(&v, plan->root, NULL);
	if (result == 0)
		result = ranks_verify(&v);
	free(v.places);
	free(v.sorted);
	return result;
}
