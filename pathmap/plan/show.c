/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a plan as text: its hosts as a tree, its stages, and the host of each stage of a path. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

/* In a path: it has no such stage. */
#define NO_STAGE "."

/* Least width of the columns of stages. */
#define HEAD_LEAST 9

struct show {
	const struct plan *plan;
	const struct pathmap *map;
	struct placement placement;
	size_t depth; /* of the deepest place; root 0 */
	size_t n_leaves;
	bool alternates;		  /* some place has one */
	bool early[LEVEL_COUNT];	  /* some places run the first stage of this level early */
	bool *gathers;			  /* by depth: a place there joins answers */
	const struct plan_place **joined; /* by depth: a place there with joined stages, or NULL */
	const struct plan_place **path;	  /* by depth: the places of the current path */
	const struct plan_place *leaf;	  /* any leaf, since all have the same local stages */
	struct table table;
	size_t n_paths;
};

/* Collect facts about the plan, and the columns of paths. */
static void show_survey(struct show *show)
{
	PLAN_FOREACH (walk, show->plan->root) {
		show->depth = walk.depth > show->depth ? walk.depth : show->depth;
		show->n_leaves += walk.place->leaf;
		show->alternates = show->alternates || walk.place->n_alternates > 0;
	}
}

static void show_columns(struct show *show)
{
	PLAN_FOREACH (walk, show->plan->root) {
		if (walk.place->n_children > 0 || walk.depth == 0)
			show->gathers[walk.depth] = true;
		if (walk.place->early)
			show->early[walk.place->joined[0].level] = true;
		else if (walk.place->n_joined > 0)
			show->joined[walk.depth] = walk.place;
		if (walk.place->leaf)
			show->leaf = walk.place;
	}
}

static const struct node *place_node(const struct show *show, const struct plan_place *place)
{
	return cluster_map_node(&show->map->clusters, place->node);
}

/* Add the alternates of the place, in the order of trying. */
static void alternates_add(struct show *show, const struct plan_place *place)
{
	char *text = memory_copy("");

	for (size_t i = 0; i < place->n_alternates; i++) {
		char *longer =
			memory_format("%s%s%s", text, i > 0 ? " " : "", place->alternates[i].node);

		free(text);
		text = longer;
	}
	table_cell(&show->table, "%s", *text != '\0' ? text : "-");
	free(text);
}

static void host_add(struct show *show, const struct plan_walk *walk)
{
	const struct plan_place *place = walk->place;
	const struct node *node = place_node(show, place);
	char *ranks = placement_text(&show->placement, show->map, node);
	char *link = memory_copy("");

	if (walk->parent != NULL) {
		free(link);
		link = link_text(cluster_map_link(&show->map->clusters,
						  place_node(show, walk->parent), node),
				 ", ");
	}
	table_cell(&show->table, "%*s%s", (int)(2 * walk->depth), "", place->node);
	table_cell(&show->table, "%s", *place->cluster != '\0' ? place->cluster : "-");
	table_cell(&show->table, "%s", *place->address != '\0' ? place->address : "-");
	table_cell(&show->table, "%s", *link != '\0' ? link : "-");
	table_cell(&show->table, "%s", place->leaf ? *ranks != '\0' ? ranks : "any" : "-");
	if (show->alternates)
		alternates_add(show, place);
	free(link);
	free(ranks);
}

static void hosts_print(struct show *show, FILE *out)
{
	static const char *const heads[] = {"HOST",	  "CLUSTER", "ADDRESS",
					    "LINK TO IT", "RANKS",   "STAND-INS"};
	static const struct table_column columns[] = {
		{},
		{.drop = 2},
		{.least = 12, .drop = 3},
		{.least = 10, .drop = 1, .wraps = true},
		{.least = 8, .wraps = true},
		{.least = 9, .wraps = true},
	};

	table_heads(&show->table, columns, heads,
		    sizeof(heads) / sizeof(heads[0]) - !show->alternates);
	PLAN_FOREACH (walk, show->plan->root)
		host_add(show, &walk);
	table_print(&show->table, out);
	table_fini(&show->table);
}

/* The stage as the map calls it: one of others by its name there, not by its file's. */
static const char *stage_word(const struct show *show, const struct plan_stage *stage)
{
	return stage_alias_name(&show->map->application.aliases, stage->kind);
}

/* Add the stages that run at the levels from @first to @last. */
static void stages_add(struct show *show, enum level first, enum level last)
{
	static const char *const wheres[LEVEL_COUNT] = {
		[LEVEL_NODE] = "hosts of elements",
		[LEVEL_CLUSTER] = "where a cluster is whole",
		[LEVEL_ALL] = "the entry",
	};
	bool early[LEVEL_COUNT];
	const struct view *view = show->plan->of;
	const char *name;

	memcpy(early, show->early, sizeof(early));
	for (size_t i = 0; i < view->n_stages; i++) {
		const struct plan_stage *stage = &view->stages[i];
		enum level place =
			mapping_stage_place(&show->map->mapping, view->name, stage->level);

		if (place < first || place > last || stage->level > show->plan->top)
			continue;
		name = stage_word(show, stage);
		table_cell(&show->table, "%s %s", level_name(stage->level), name);
		table_cell(&show->table, "%s%s", wheres[place],
			   early[stage->level] ? ", and below" : "");
		early[stage->level] = false;
		table_cell(&show->table, "%s%s%s", stage->args,
			   name == stage->kind ? ""
			   : *stage->args      ? ", of "
					       : "of ",
			   name == stage->kind ? "" : stage->kind);
	}
}

/* Print each stage once, with its details; paths only name stages. */
static void stages_print(struct show *show, FILE *out)
{
	static const char *const sources[READ_COUNT] = {
		[READ_LATEST] = "the newest tuple of each element",
		[READ_STREAM] = "all tuples since the last wave",
		[READ_COUNTS] = "what classes of operations have counted",
	};
	static const char *const heads[] = {"STAGE", "RUNS ON", "WHAT IT DOES"};
	static const struct table_column columns[] = {{}, {}, {.least = 16, .wraps = true}};

	table_heads(&show->table, columns, heads, sizeof(heads) / sizeof(heads[0]));
	table_cell(&show->table, "source");
	table_cell(&show->table, "hosts of elements");
	table_cell(&show->table, "%s%s",
		   show->plan->of->sample ? "samples of threads' state lines, "
					  : sources[show->plan->reading],
		   show->plan->of->sample ? show->plan->of->sample : "");
	stages_add(show, LEVEL_NODE, LEVEL_NODE);
	table_cell(&show->table, "gather");
	table_cell(&show->table, "hosts above others");
	table_cell(&show->table, "joins the answers of the hosts below, and its own");
	stages_add(show, LEVEL_CLUSTER, LEVEL_ALL);
	table_print(&show->table, out);
	table_fini(&show->table);
}

static void path_heads(struct show *show)
{
	table_cell(&show->table, "PATH");
	table_cell(&show->table, "source");
	for (size_t i = 0; i < show->leaf->n_local; i++)
		table_cell(&show->table, "%s %s", level_name(show->leaf->local[i].level),
			   stage_word(show, &show->leaf->local[i]));
	for (size_t depth = show->depth + 1; depth-- > 0;) {
		const struct plan_place *joined = show->joined[depth];

		if (show->gathers[depth])
			table_cell(&show->table, "gather");
		for (size_t i = 0; joined != NULL && i < joined->n_joined; i++)
			table_cell(&show->table, "%s %s", level_name(joined->joined[i].level),
				   stage_word(show, &joined->joined[i]));
	}
}

/* Add the cells of a path after its name: the host of each stage, from the leaf at @depth up. */
static void path_hosts(struct show *show, size_t depth)
{
	for (size_t i = 0; i <= show->leaf->n_local; i++)
		table_cell(&show->table, "%s", show->path[depth]->node);
	for (size_t d = show->depth + 1; d-- > 0;) {
		const struct plan_place *place = d <= depth ? show->path[d] : NULL;
		const struct plan_place *joined = show->joined[d];
		bool gathers = place != NULL && (place->n_children > 0 || d == 0);

		if (show->gathers[d])
			table_cell(&show->table, "%s", gathers ? place->node : NO_STAGE);
		for (size_t i = 0; joined != NULL && i < joined->n_joined; i++)
			table_cell(&show->table, "%s",
				   place != NULL && place->n_joined > 0 && !place->early
					   ? place->node
					   : NO_STAGE);
	}
	show->n_paths++;
}

static bool plan_reaches(const struct plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->n_select; i++) {
		if (pattern_reaches(plan->select[i], name))
			return true;
	}
	return false;
}

static void leaf_paths(struct show *show, const struct plan_place *leaf, size_t depth)
{
	const struct placement *placement = &show->placement;
	const struct node *node = place_node(show, leaf);
	char name[NAME_BYTES];

	if (placement->first[node->index] == placement->first[node->index + 1]) {
		table_cell(&show->table, "/%s/%s", leaf->cluster, leaf->node);
		path_hosts(show, depth);
	}
	for (size_t i = placement->first[node->index]; i < placement->first[node->index + 1]; i++) {
		snprintf(name, sizeof(name), "/%s/%s/rank%u", leaf->cluster, leaf->node,
			 placement->ranks[i]);
		if (!plan_reaches(show->plan, name))
			continue;
		table_cell(&show->table, "%s", name);
		path_hosts(show, depth);
	}
}

static void paths_add(struct show *show)
{
	PLAN_FOREACH (walk, show->plan->root) {
		show->path[walk.depth] = walk.place;
		if (walk.place->leaf)
			leaf_paths(show, walk.place, walk.depth);
	}
}

static size_t longest_node(const struct plan_place *root)
{
	size_t longest = 0;

	PLAN_FOREACH (walk, root) {
		size_t here = strlen(walk.place->node);

		longest = here > longest ? here : longest;
	}
	return longest;
}

/* Heads may be cut, hosts may not. Local stages are left out first: their host is in the path's
 * name. */
static struct table_column *path_columns(const struct show *show, size_t n)
{
	struct table_column *columns = memory_new(n, sizeof(*columns));
	size_t least = longest_node(show->plan->root);

	columns[0].parts = 2;
	for (size_t i = 1; i < n; i++)
		columns[i] = (struct table_column){
			.drop = (unsigned)i,
			.least = least > HEAD_LEAST ? least : HEAD_LEAST,
			.wraps = true,
		};
	return columns;
}

static void paths_print(struct show *show, FILE *out)
{
	struct table_column *gives_way;
	size_t columns = 2 + show->leaf->n_local;

	for (size_t depth = 0; depth <= show->depth; depth++)
		columns += (size_t)show->gathers[depth] +
			   (show->joined[depth] != NULL ? show->joined[depth]->n_joined : 0);
	table_init(&show->table, columns);
	show->table.columns = gives_way = path_columns(show, columns);
	path_heads(show);
	paths_add(show);
	table_print(&show->table, out);
	table_fini(&show->table);
	free(gives_way);
}

/* Write what the view reads, and from how many hosts. */
static void reading_write(FILE *line, const void *arg)
{
	const struct show *show = arg;
	const struct plan *plan = show->plan;

	fprintf(line, "view %s: %s of", plan->view, reading_name(plan->reading, plan->of->sample));
	for (size_t i = 0; i < plan->n_select; i++)
		fprintf(line, " %s", plan->select[i]);
	fprintf(line, " from %zu node%s by way of %zu host%s", show->n_leaves,
		plural(show->n_leaves, "s"), plan->n_places, plural(plan->n_places, "s"));
	if (plan->root->concurrency == 1)
		fputs(", asked one after the other", line);
	else if (plan->root->concurrency > 0)
		fprintf(line, ", at most %u asked at once by each", plan->root->concurrency);
}

void plan_print(const struct plan *plan, const struct pathmap *map, FILE *out)
{
	struct show show = {.plan = plan, .map = map};

	placement_init(&show.placement, map);
	show_survey(&show);
	show.gathers = memory_new(show.depth + 1, sizeof(*show.gathers));
	show.joined = memory_new(show.depth + 1, sizeof(*show.joined));
	show.path = memory_new(show.depth + 1, sizeof(*show.path));
	show_columns(&show);
	table_say_of(out, reading_write, &show);
	fputc('\n', out);
	hosts_print(&show, out);
	fputc('\n', out);
	stages_print(&show, out);
	fputc('\n', out);
	paths_print(&show, out);
	free(show.gathers);
	free(show.joined);
	free(show.path);
	placement_fini(&show.placement);
}
