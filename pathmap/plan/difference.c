/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares two pathmaps by their nodes, ranks, recordings and generated trees. */
#include "pathmap/plan/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/plan/holding.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/plan/made.h"
#include "pathmap/plan/plan.h"
#include "pathmap/plan/steer.h"

struct difference_walk {
	const struct pathmap *from, *to;
	difference_report *report;
	void *arg;
	const char *view;
	size_t n;
};

/* Report one difference; frees @text. */
static void differ(struct difference_walk *w, const char *what, const char *subject,
		   const char *from, const char *to, char *text)
{
	struct difference d = {
		.what = what,
		.view = w->view,
		.subject = subject,
		.from = from,
		.to = to,
		.text = text,
	};

	w->n++;
	w->report(w->arg, &d);
	free(text);
}

/* ---- nodes and ranks ---- */

static const char *cluster_of(const struct node *node)
{
	return node->cluster != NULL ? node->cluster->name : "";
}

static void node_compare(struct difference_walk *w, const struct node *a, const struct node *b)
{
	if (strcmp(cluster_of(a), cluster_of(b)) != 0)
		differ(w, "node", a->name, cluster_of(a), cluster_of(b),
		       memory_format("%s from cluster %s to %s", a->name,
				     *cluster_of(a) ? cluster_of(a) : "(none)",
				     *cluster_of(b) ? cluster_of(b) : "(none)"));
	if (strcmp(a->address, b->address) != 0)
		differ(w, "node", a->name, a->address, b->address,
		       memory_format("%s listens on %s instead of %s", a->name,
				     *b->address ? b->address : "no address",
				     *a->address ? a->address : "none"));
}

static void ranks_compare(struct difference_walk *w, const char *node)
{
	char *from = holding_list(w->from, node), *to = holding_list(w->to, node);

	if (strcmp(from, to) != 0)
		differ(w, "rank", node, from, to,
		       memory_format("%s holds %s%s instead of %s", node,
				     *to ? "ranks " : "no ranks", to, *from ? from : "none"));
	free(from);
	free(to);
}

static void nodes_compare(struct difference_walk *w)
{
	const struct cluster_map *from = &w->from->clusters, *to = &w->to->clusters;

	for (size_t i = 0; i < from->n_nodes; i++) {
		const struct node *a = from->nodes[i], *b = cluster_map_node(to, a->name);

		if (b == NULL)
			differ(w, "node", a->name, a->name, "",
			       memory_format("%s is taken away", a->name));
		else
			node_compare(w, a, b);
		ranks_compare(w, a->name);
	}
	for (size_t i = 0; i < to->n_nodes; i++) {
		const struct node *b = to->nodes[i];

		if (cluster_map_node(from, b->name) != NULL)
			continue;
		differ(w, "node", b->name, "", b->name, memory_format("%s is added", b->name));
		ranks_compare(w, b->name);
	}
}

/* ---- what is collected ---- */

static char *recording_text(const struct recording *r)
{
	char capacity[16] = "by memory", lifetime[32] = "";

	if (!r->collected)
		return memory_copy("not collected");
	if (r->capacity)
		snprintf(capacity, sizeof(capacity), "%u", r->capacity);
	if (r->lifetime_ns > 0)
		snprintf(lifetime, sizeof(lifetime), ", lifetime %g s",
			 (double)r->lifetime_ns * 1e-9);
	return memory_format("element %s, capacity %s, mode %s%s", r->element, capacity, r->mode,
			     lifetime);
}

/* When it takes effect: `map apply` changes mode and lifetime of elements that exist. */
static const char *recording_when(const struct recording *from, const struct recording *to)
{
	return from->collected != to->collected || from->capacity != to->capacity ||
			       strcmp(from->element, to->element) != 0
		       ? "for what starts later"
		       : "now";
}

static void recordings_compare(struct difference_walk *w)
{
	const char *const *names;
	size_t n = pathmap_channels(&names);

	for (size_t i = 0; i < n; i++) {
		const struct recording *was = pathmap_recording(w->from, names[i]);
		const struct recording *is = pathmap_recording(w->to, names[i]);
		char *from = recording_text(was), *to = recording_text(is);

		if (strcmp(from, to) != 0)
			differ(w, "channel", names[i], from, to,
			       memory_format("%s: %s instead of %s, %s", names[i], to, from,
					     recording_when(was, is)));
		free(from);
		free(to);
	}
}

/* ---- what is said of elements by name ---- */

/* What of it does not wait for a program that starts later. */
static const char *rule_when(const struct element_rule *rule)
{
	const struct recording *says = &rule->says;

	if (says->remote[0])
		return "for agents that are started anew";
	if (says->capacity == 0)
		return "now";
	return says->lifetime_ns > 0 || says->mode != NULL
		       ? "now, but its capacity for what starts later"
		       : "for what starts later";
}

static bool rules_have(const struct pathmap *map, const char *text)
{
	const struct element_rule *rules;
	size_t n = pathmap_rules(map, &rules);
	bool found = false;

	for (size_t i = 0; i < n && !found; i++) {
		char *other = element_rule_text(&rules[i]);

		found = strcmp(other, text) == 0;
		free(other);
	}
	return found;
}

/* Report the rules of @map that @other does not have. */
static void rules_report(struct difference_walk *w, const struct pathmap *map,
			 const struct pathmap *other)
{
	const struct element_rule *rules;
	size_t n = pathmap_rules(map, &rules);
	bool added = map == w->to;

	for (size_t i = 0; i < n; i++) {
		char *text = element_rule_text(&rules[i]);

		if (!rules_have(other, text))
			differ(w, "elements", rules[i].pattern, added ? "" : text,
			       added ? text : "",
			       memory_format("%selements %s, %s", added ? "" : "no longer ", text,
					     rule_when(&rules[i])));
		free(text);
	}
}

static void elements_compare(struct difference_walk *w)
{
	char *from = pathmap_only_text(w->from), *to = pathmap_only_text(w->to);

	rules_report(w, w->from, w->to);
	rules_report(w, w->to, w->from);
	if (strcmp(from, to) != 0)
		differ(w, "elements", "ranks", from, to,
		       memory_format("%s are collected instead of %s, for what starts later", to,
				     from));
	free(from);
	free(to);
}

static void shapes_compare(struct difference_walk *w)
{
	char *from = definable_shapes(pathmap_definable(w->from));
	char *to = definable_shapes(pathmap_definable(w->to));

	if (strcmp(from, to) != 0)
		differ(w, "definable", "trees", from, to,
		       memory_format("consumers may choose for any view: %s instead of %s",
				     *to ? to : "nothing", *from ? from : "nothing"));
	free(from);
	free(to);
}

static void definable_compare(struct difference_walk *w)
{
	char *from = definable_text(pathmap_definable(w->from));
	char *to = definable_text(pathmap_definable(w->to));

	if (strcmp(from, to) != 0)
		differ(w, "definable", "views", from, to,
		       memory_format("consumers may define views %s instead of %s", to, from));
	free(from);
	free(to);
}

static void budget_compare(struct difference_walk *w)
{
	char from[32] = "anything", to[32] = "anything";

	if (pathmap_budget(w->from) > 0)
		snprintf(from, sizeof(from), "%g %%", pathmap_budget(w->from) * 100);
	if (pathmap_budget(w->to) > 0)
		snprintf(to, sizeof(to), "%g %%", pathmap_budget(w->to) * 100);
	if (strcmp(from, to) != 0)
		differ(w, "budget", "consumers", from, to,
		       memory_format("consumers may slow a run down by %s together instead of %s",
				     to, from));
}

static void steer_compare(struct difference_walk *w)
{
	char *from = NULL, *to = NULL;

	if (steer_text(w->from, &from, NULL) == 0 && steer_text(w->to, &to, NULL) == 0 &&
	    strcmp(from ? from : "", to ? to : "") != 0)
		differ(w, "steer", "collectives", from ? from : "", to ? to : "",
		       memory_format("collectives are steered along %s instead of %s, as soon as "
				     "the ranks of a communicator agree",
				     to ? to : "nothing", from ? from : "nothing"));
	free(from);
	free(to);
}

static void made_compare(struct difference_walk *w)
{
	char *from = made_text(w->from), *to = made_text(w->to);

	if (strcmp(from, to) != 0)
		differ(w, "made", "elements", from, to,
		       memory_copy("elements are made by the map, or removed, as `element` says"));
	free(from);
	free(to);
}

/* ---- views ---- */

/* A place and its position in the tree. */
struct difference_seat {
	const struct plan_place *place, *parent;
};

struct difference_seats {
	struct difference_seat *items;
	size_t n;
};

static void seats_take(struct difference_seats *seats, const struct plan_place *root)
{
	PLAN_FOREACH (walk, root) {
		seats->items = memory_room(seats->items, seats->n, sizeof(*seats->items));
		seats->items[seats->n++] = (struct difference_seat){walk.place, walk.parent};
	}
}

static const struct difference_seat *seats_find(const struct difference_seats *seats,
						const char *node)
{
	for (size_t i = 0; i < seats->n; i++) {
		if (strcmp(seats->items[i].place->node, node) == 0)
			return &seats->items[i];
	}
	return NULL;
}

/* Texts of a place's stages and of how it is run. */
struct doings {
	char **items;
	size_t n;
};

static void doings_add(struct doings *d, char *text)
{
	d->items = memory_room(d->items, d->n, sizeof(*d->items));
	d->items[d->n++] = text;
}

static void doings_take(struct doings *d, const struct plan_stage *stages, size_t n)
{
	for (size_t i = 0; i < n; i++)
		doings_add(d, memory_format("runs `%s %s%s%s`", level_name(stages[i].level),
					    stages[i].kind, *stages[i].args ? " " : "",
					    stages[i].args));
}

static void doings_init(struct doings *d, const struct plan_place *place)
{
	*d = (struct doings){NULL, 0};
	doings_take(d, place->local, place->n_local);
	doings_take(d, place->joined, place->n_joined);
	if (place->leaf)
		doings_add(d, memory_copy("reads its elements"));
	if (place->concurrency > 0)
		doings_add(d, memory_format("asks %u at once", place->concurrency));
	for (size_t i = 0; i < place->n_alternates; i++)
		doings_add(d, memory_format("has the alternate %s", place->alternates[i].node));
}

static void doings_fini(struct doings *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->items[i]);
	free(d->items);
}

static bool doings_have(const struct doings *d, const char *text)
{
	for (size_t i = 0; i < d->n; i++) {
		if (strcmp(d->items[i], text) == 0)
			return true;
	}
	return false;
}

/* Report what the host does by only one of the maps. */
static void doings_compare(struct difference_walk *w, const char *node, const struct doings *from,
			   const struct doings *to)
{
	for (size_t i = 0; i < from->n; i++) {
		if (!doings_have(to, from->items[i]))
			differ(w, "stages", node, from->items[i], "",
			       memory_format("%s no longer %s", node, from->items[i]));
	}
	for (size_t i = 0; i < to->n; i++) {
		if (!doings_have(from, to->items[i]))
			differ(w, "stages", node, "", to->items[i],
			       memory_format("%s now %s", node, to->items[i]));
	}
}

static void place_compare(struct difference_walk *w, const struct difference_seat *a,
			  const struct difference_seat *b)
{
	const char *was = a->parent ? a->parent->node : "", *is = b->parent ? b->parent->node : "";
	struct doings from, to;

	if (strcmp(was, is) != 0)
		differ(w, "place", a->place->node, was, is,
		       *was && *is ? memory_format("%s from %s to %s", a->place->node, was, is)
		       : *is ? memory_format("%s from the top to below %s", a->place->node, is)
			     : memory_format("%s from %s to the top", a->place->node, was));
	doings_init(&from, a->place);
	doings_init(&to, b->place);
	doings_compare(w, a->place->node, &from, &to);
	doings_fini(&from);
	doings_fini(&to);
}

static void trees_compare(struct difference_walk *w, const struct plan *from, const struct plan *to)
{
	struct difference_seats a = {NULL, 0}, b = {NULL, 0};

	seats_take(&a, from->root);
	seats_take(&b, to->root);
	for (size_t i = 0; i < a.n; i++) {
		const struct difference_seat *there = seats_find(&b, a.items[i].place->node);

		if (there != NULL)
			place_compare(w, &a.items[i], there);
		else
			differ(w, "place", a.items[i].place->node,
			       a.items[i].parent ? a.items[i].parent->node : "", "",
			       memory_format("%s leaves the tree", a.items[i].place->node));
	}
	for (size_t i = 0; i < b.n; i++) {
		const char *node = b.items[i].place->node;
		const char *parent = b.items[i].parent ? b.items[i].parent->node : "";

		if (seats_find(&a, node) == NULL)
			differ(w, "place", node, "", parent,
			       *parent ? memory_format("%s comes in below %s", node, parent)
				       : memory_format("%s comes in at the top", node));
	}
	free(a.items);
	free(b.items);
}

static char *selection_text(const struct plan *plan)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		abort();
	fprintf(out, "%s of", reading_name(plan->reading, plan->of->sample));
	for (size_t i = 0; i < plan->n_select; i++)
		fprintf(out, " %s", plan->select[i]);
	fclose(out);
	return text;
}

static void selection_compare(struct difference_walk *w, const struct plan *from,
			      const struct plan *to)
{
	char *a = selection_text(from), *b = selection_text(to);

	if (strcmp(a, b) != 0)
		differ(w, "view", from->view, a, b,
		       memory_format("reads %s instead of %s, for who opens it later", b, a));
	free(a);
	free(b);
}

static void views_compare(struct difference_walk *w)
{
	const char *const *names;
	size_t n = pathmap_views(w->from, &names);
	struct plan *from, *to;

	for (size_t i = 0; i < n; i++) {
		w->view = names[i];
		if (plan_make(w->from, names[i], &from, NULL) < 0)
			continue;
		if (plan_make(w->to, names[i], &to, NULL) == 0) {
			selection_compare(w, from, to);
			trees_compare(w, from, to);
			plan_free(to);
		} else {
			differ(w, "view", names[i], names[i], "", memory_copy("is taken away"));
		}
		plan_free(from);
	}
	n = pathmap_views(w->to, &names);
	for (size_t i = 0; i < n; i++) {
		w->view = names[i];
		if (application_view(&w->from->application, names[i]) == NULL)
			differ(w, "view", names[i], "", names[i], memory_copy("is added"));
	}
	w->view = NULL;
}

size_t difference_walk(const struct pathmap *from, const struct pathmap *to,
		       difference_report *report, void *arg)
{
	struct difference_walk w = {.from = from, .to = to, .report = report, .arg = arg};

	if (strcmp(pathmap_entry(from), pathmap_entry(to)) != 0)
		differ(&w, "node", pathmap_entry(to), pathmap_entry(from), pathmap_entry(to),
		       memory_format("the entry is %s instead of %s", pathmap_entry(to),
				     pathmap_entry(from)));
	nodes_compare(&w);
	recordings_compare(&w);
	elements_compare(&w);
	definable_compare(&w);
	shapes_compare(&w);
	budget_compare(&w);
	steer_compare(&w);
	made_compare(&w);
	views_compare(&w);
	return w.n;
}
