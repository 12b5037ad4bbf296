/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a plan as a graph in Graphviz's dot language, each cluster in a box. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/parts.h"
#include "pathmap/plan/plan.h"

struct dot {
	const struct plan *plan;
	const struct pathmap *map;
	struct placement placement;
	FILE *out;
};

/* Write text inside a dot string: arguments of stages may hold any printable character. */
static void text_write(const char *text, FILE *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void stages_write(const struct plan_stage *stages, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "\\n%s ", level_name(stages[i].level));
		text_write(stages[i].kind, out);
		fputc(' ', out);
		text_write(stages[i].args, out);
	}
}

static void place_write(const struct dot *dot, const struct plan_place *place, int indent)
{
	const struct node *node = cluster_map_node(&dot->map->clusters, place->node);
	char *ranks = placement_text(&dot->placement, dot->map, node);

	fprintf(dot->out, "%.*s\"%s\" [label=\"%s", indent, "\t\t", place->node, place->node);
	if (place->leaf && *ranks != '\0')
		fprintf(dot->out, "\\nranks %s", ranks);
	if (place->leaf)
		fprintf(dot->out, "\\n%s", reading_name(dot->plan->reading, dot->plan->of->sample));
	stages_write(place->local, place->n_local, dot->out);
	if (place->n_children > 0)
		fputs("\\ngather", dot->out);
	stages_write(place->joined, place->n_joined, dot->out);
	fprintf(dot->out, "\"%s];\n", place->leaf ? ", style=filled" : "");
	free(ranks);
}

static bool cluster_is_in(const struct plan_place *root, const char *cluster)
{
	PLAN_FOREACH (walk, root) {
		if (strcmp(walk.place->cluster, cluster) == 0)
			return true;
	}
	return false;
}

/* Write the places of the cluster with this name. */
static void cluster_write(const struct dot *dot, const char *cluster, int indent)
{
	PLAN_FOREACH (walk, dot->plan->root) {
		if (strcmp(walk.place->cluster, cluster) == 0)
			place_write(dot, walk.place, indent);
	}
}

static void edges_write(const struct dot *dot)
{
	const struct cluster_map *clusters = &dot->map->clusters;

	PLAN_FOREACH (walk, dot->plan->root) {
		char *link;

		if (walk.parent == NULL)
			continue;
		link = link_text(cluster_map_link(clusters,
						  cluster_map_node(clusters, walk.parent->node),
						  cluster_map_node(clusters, walk.place->node)),
				 "\\n");
		fprintf(dot->out, "\t\"%s\" -> \"%s\"", walk.place->node, walk.parent->node);
		if (*link != '\0')
			fprintf(dot->out, " [label=\"%s\"]", link);
		fputs(";\n", dot->out);
		free(link);
	}
}

void plan_dot(const struct plan *plan, const struct pathmap *map, FILE *out)
{
	struct dot dot = {.plan = plan, .map = map, .out = out};

	placement_init(&dot.placement, map);
	fprintf(out, "digraph \"%s\" {\n", plan->view);
	fprintf(out, "\trankdir=BT;\n\tnode [shape=box];\n");
	cluster_write(&dot, "", 1);
	for (size_t i = 0; i < map->clusters.n_clusters; i++) {
		const char *name = map->clusters.clusters[i]->name;

		if (!cluster_is_in(plan->root, name))
			continue;
		fprintf(out, "\tsubgraph \"cluster_%s\" {\n\t\tlabel=\"%s\";\n", name, name);
		cluster_write(&dot, name, 2);
		fprintf(out, "\t}\n");
	}
	edges_write(&dot);
	fprintf(out, "}\n");
	placement_fini(&dot.placement);
}
