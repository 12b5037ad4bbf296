/* SPDX-License-Identifier: BSD-3-Clause */
/* Tries mappings of one view on a copy of the mapping, and keeps the Pareto set of them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/cost/cost.h"
#include "pathmap/model/parts.h"
#include "pathmap/plan/plan.h"

/* Smaller relative differences count as equal. */
#define ALIKE 0.005

static const unsigned fanouts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32};
#define FANOUTS (sizeof(fanouts) / sizeof(fanouts[0]))
/* By-cluster and flat, then the fan-outs. */
#define SHAPES (2 + FANOUTS)

/* The levels whose hosts run the stages of levels up to node, and those of cluster. */
static const struct places {
	enum level node, cluster;
} places[] = {
	{LEVEL_NODE, LEVEL_CLUSTER},
	{LEVEL_CLUSTER, LEVEL_CLUSTER},
	{LEVEL_NODE, LEVEL_ALL},
	{LEVEL_ALL, LEVEL_ALL},
};
#define PLACES (sizeof(places) / sizeof(places[0]))

struct candidate {
	struct suggestions *found;
	const struct pathmap *map;
	const char *view;
	const struct calibration *calibration;
	unsigned window;
};

/* ---- one mapping ---- */

static struct tree shape_tree(size_t shape, const struct places *at)
{
	struct tree tree = {.said = true};

	tree.kind = shape == 0 ? TREE_BY_CLUSTER : shape == 1 ? TREE_FLAT : TREE_FANOUT;
	if (tree.kind == TREE_FANOUT)
		tree.fanout = fanouts[shape - 2];
	for (unsigned level = LEVEL_ELEMENT; level <= LEVEL_NODE; level++)
		tree.at[level] = (unsigned char)at->node;
	tree.at[LEVEL_CLUSTER] = (unsigned char)at->cluster;
	return tree;
}

/* Does the view have stages of the levels from @first to @last? */
static bool has_stages(const struct view *view, enum level first, enum level last)
{
	for (size_t i = 0; i < view->n_stages; i++) {
		if (view->stages[i].level >= first && view->stages[i].level <= last)
			return true;
	}
	return false;
}

/* Does the default of the map place stages of the levels from @first to @last? */
static bool places_said(const struct mapping *mapping, enum level first, enum level last)
{
	for (unsigned level = first; level <= (unsigned)last; level++) {
		if (mapping->tree.at[level] != 0)
			return true;
	}
	return false;
}

/* The lines of a candidate, without places that are the default anyway. */
static char *lines_of(const struct candidate *candidate, const struct tree *tree,
		      const struct view *view, const struct places *at)
{
	const struct mapping *mapping = &candidate->map->mapping;
	bool low = has_stages(view, LEVEL_ELEMENT, LEVEL_NODE) &&
		   (at->node != LEVEL_NODE || places_said(mapping, LEVEL_ELEMENT, LEVEL_NODE));
	bool high = has_stages(view, LEVEL_CLUSTER, LEVEL_CLUSTER) &&
		    (at->cluster != LEVEL_CLUSTER ||
		     places_said(mapping, LEVEL_CLUSTER, LEVEL_CLUSTER));
	char fanout[16] = "";

	if (tree->kind == TREE_FANOUT)
		snprintf(fanout, sizeof(fanout), " %u", tree->fanout);
	return memory_format("tree %s%s;%s%s%s%s%s%s", tree_kinds[tree->kind], fanout,
			     low ? " stages element thread node at " : "",
			     low ? level_name(at->node) : "", low ? ";" : "",
			     high ? " stages cluster at " : "", high ? level_name(at->cluster) : "",
			     high ? ";" : "");
}

static void candidate_add(struct candidate *candidate, const struct plan *plan,
			  const struct pathmap *map, char *lines, bool present)
{
	struct suggestions *found = candidate->found;
	const struct cost_host *busiest;
	struct cost cost;

	cost_predict(&cost, plan, map, candidate->calibration, candidate->window);
	busiest = &cost.hosts[cost.busiest];
	found->items = memory_room(found->items, found->n, sizeof(*found->items));
	found->items[found->n++] = (struct suggestion){
		.lines = lines,
		.present = present,
		.waves_per_s = cost.waves_per_s,
		.window_waves_per_s = cost.window_waves_per_s,
		.cpu_us = cost.cpu_us,
		.busiest_cpu_us = busiest->cpu_us,
		.busiest_bytes = cost_host_bytes(&cost, cost.busiest),
		.busiest = memory_copy(busiest->place->node),
	};
	found->tried++;
	cost_fini(&cost);
}

/* A mapping that is not possible (a host could not reach another one) is no suggestion. */
static void candidate_make(struct candidate *candidate, size_t shape, const struct places *at,
			   const struct view *view)
{
	const struct mapping *now = &candidate->map->mapping;
	struct pathmap other = *candidate->map;
	struct view_tree *trees = memory_new(now->n_views + 1, sizeof(*trees));
	struct tree tree = shape_tree(shape, at);
	struct plan *plan;
	struct error e;
	size_t n = 0;

	/* heads of clusters, alternates and concurrency stay as they are */
	for (size_t i = 0; i < now->n_views; i++) {
		const struct tree *own = &now->views[i].tree;

		if (strcmp(now->views[i].view, view->name) != 0) {
			trees[n++] = now->views[i];
			continue;
		}
		tree.heads = own->heads;
		tree.n_heads = own->n_heads;
		tree.alternates = own->alternates;
		tree.n_alternates = own->n_alternates;
		tree.concurrency_said = own->concurrency_said;
		tree.concurrency = own->concurrency;
	}
	trees[n++] = (struct view_tree){view->name, tree};
	other.mapping.views = trees;
	other.mapping.n_views = n;
	if (plan_make(&other, candidate->view, &plan, &e) == 0) {
		candidate_add(candidate, plan, &other, lines_of(candidate, &tree, view, at), false);
		plan_free(plan);
	}
	free(trees);
}

/* ---- what is kept ---- */

/* Is @a no worse in anything? Of two equal ones the first one tried wins. */
static bool beats(const struct suggestion *a, const struct suggestion *b, bool before)
{
	const double mine[] = {-a->waves_per_s, -a->window_waves_per_s, a->cpu_us,
			       a->busiest_cpu_us, a->busiest_bytes};
	const double theirs[] = {-b->waves_per_s, -b->window_waves_per_s, b->cpu_us,
				 b->busiest_cpu_us, b->busiest_bytes};
	bool better = false;

	for (size_t i = 0; i < sizeof(mine) / sizeof(mine[0]); i++) {
		double alike = ALIKE * (theirs[i] < 0 ? -theirs[i] : theirs[i]);

		if (mine[i] > theirs[i] + alike)
			return false;
		better = better || mine[i] < theirs[i] - alike;
	}
	return better || before;
}

static void suggestion_fini(struct suggestion *s)
{
	free(s->lines);
	free(s->busiest);
}

static int by_rate(const void *left, const void *right)
{
	const struct suggestion *a = left, *b = right;

	if (a->present != b->present)
		return a->present ? -1 : 1;
	return (a->waves_per_s < b->waves_per_s) - (a->waves_per_s > b->waves_per_s);
}

static void pareto_keep(struct suggestions *s)
{
	bool *beaten = memory_new(s->n, sizeof(*beaten));
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		for (size_t j = 0; j < s->n && !beaten[i]; j++)
			beaten[i] = j != i && !s->items[i].present &&
				    beats(&s->items[j], &s->items[i], j < i);
	}
	for (size_t i = 0; i < s->n; i++) {
		if (beaten[i])
			suggestion_fini(&s->items[i]);
		else
			s->items[n++] = s->items[i];
	}
	s->n = n;
	free(beaten);
	qsort(s->items, s->n, sizeof(*s->items), by_rate);
}

int suggestions_make(struct suggestions *s, const struct pathmap *map, const char *view_name,
		     const struct calibration *calibration, unsigned window, struct error *e)
{
	struct candidate candidate = {
		.map = map, .view = view_name, .calibration = calibration, .window = window};
	const struct view *view;
	struct plan *plan;
	enum level top;

	*s = (struct suggestions){0};
	candidate.found = s;
	if (plan_make(map, view_name, &plan, e) < 0)
		return -1;
	candidate_add(&candidate, plan, map, memory_copy(""), true);
	plan_free(plan);
	view = application_view_to(&map->application, view_name, &top);
	for (size_t shape = 0; shape < SHAPES; shape++) {
		for (size_t i = 0; i < PLACES; i++) {
			/* without such stages it would be the same tree again */
			if ((places[i].node != LEVEL_NODE &&
			     !has_stages(view, LEVEL_ELEMENT, LEVEL_NODE)) ||
			    (places[i].cluster != LEVEL_CLUSTER &&
			     !has_stages(view, LEVEL_ELEMENT, LEVEL_CLUSTER)))
				continue;
			candidate_make(&candidate, shape, &places[i], view);
		}
	}
	pareto_keep(s);
	return 0;
}

void suggestions_fini(struct suggestions *s)
{
	for (size_t i = 0; i < s->n; i++)
		suggestion_fini(&s->items[i]);
	free(s->items);
	*s = (struct suggestions){0};
}
