/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace map: checks a pathmap, and shows what is generated from it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/command.h"
#include "consumers/cli/options.h"
#include "consumers/deploy/discover.h"
#include "consumers/map/map.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/utf8.h"
#include "tree/stage/stage.h"

/* Most waves under way. */
#define WINDOW_MOST 64

static const char map_help[] =
	"usage: evspace map check DIR [--json]\n"
	"       evspace map show DIR [--view VIEW] [--window N] [--dot | --json]\n"
	"       evspace map show DIR --define TEXT [--window N] [--dot | --json]\n"
	"       evspace map suggest DIR --view VIEW [--window N] [--json]\n"
	"       evspace map discover ...   (see evspace map discover --help)\n"
	"       evspace map diff | apply | rollback ...   (see evspace map apply --help)\n"
	"\n"
	"DIR is a pathmap: application.map (which threads, what is collected, which\n"
	"views), cluster.map (which hosts, how they are reached) and mapping.map (what is\n"
	"where).\n"
	"\n"
	"check reads all three, and says of everything that is wrong the file, line and\n"
	"column, what was found and what would be right. Exit code 1 if anything is.\n"
	"\n"
	"show prints what is collected of each channel, for each view the tree of hosts\n"
	"that answers it, each path from a rank up the tree with the host that each stage\n"
	"runs on, and what is predicted: waves per second, CPU time per host and bytes\n"
	"per link and wave (by what `evspace doctor` has measured here; of a stream, one\n"
	"tuple per element and wave).\n"
	"\n"
	"suggest tries shapes and places of stages for one view, and prints those\n"
	"mappings that no other is predicted to beat in everything: rate against the\n"
	"price at the busiest host.\n"
	"\n"
	"--json prints one object a line: check one for each error, and a summary; show\n"
	"one for all channels, one for each view.\n";

/* after its options */
static const char map_examples[] = "examples:\n"
				   "  evspace map check maps\n"
				   "  evspace map show maps --view heartbeat\n";

struct map_options {
	struct common common;
	const char *dir;
	const char *view;		/* NULL: all */
	const char *define;		/* NULL: a view of the map */
	unsigned window;		/* waves under way to predict for */
	const char *tree, *concurrency; /* as consumers choose them; NULL: as the map says */
	bool dot;
};

static const struct option_row map_rows[] = {
	{"view", "VIEW", OPTION_TEXT, .at = offsetof(struct map_options, view),
	 .help = "only this view"},
	{"define", "TEXT", OPTION_ONCE, .at = offsetof(struct map_options, define),
	 .help = "only what `evspace view --define TEXT` would be"},
	{"window", "N", OPTION_COUNT, .at = offsetof(struct map_options, window),
	 .most = WINDOW_MOST, .help = "predict for N waves under way, too, 1 to 64 (default 16)"},
	{"tree", "SHAPE", OPTION_TEXT, .at = offsetof(struct map_options, tree),
	 .help = "what a consumer's --tree would make of it: by-cluster, flat, \"fanout 8\""},
	{"concurrency", "N", OPTION_TEXT, .at = offsetof(struct map_options, concurrency),
	 .help = "likewise: sequential, 8, all"},
	{"dot", .at = offsetof(struct map_options, dot),
	 .help = "the tree as a graph for Graphviz: ... --dot | dot -Tsvg >tree.svg"},
	{0},
};

static const struct usage map_usage = {
	.help = map_help,
	.after = map_examples,
	.own = map_rows,
	.takes = OPTIONS_JSON,
	.words_max = INT_MAX,
};

static void fault_print(const struct pathmap_fault *fault, void *arg)
{
	bool placed = fault->line > 0;
	size_t *faults = arg;

	++*faults;
	json_print(json_pack("{so so so so}", "file", json_text(fault->file), "text",
			     json_text(fault->text), "line",
			     placed ? json_count(fault->line) : json_null(), "column",
			     placed ? json_count(fault->column) : json_null()),
		   stdout);
}

static int check_json(const char *dir)
{
	size_t faults = 0;
	struct pathmap *map = pathmap_examine(dir, stage_check, fault_print, &faults, NULL);

	json_print(json_pack("{so sb sI}", "pathmap", json_text(dir), "fine", map != NULL, "errors",
			     (json_int_t)faults),
		   stdout);
	if (map == NULL)
		return EXIT_BAD_NEWS;
	pathmap_free(map);
	return EXIT_FINE;
}

static int check_text(const char *dir)
{
	struct error e;
	struct pathmap *map = pathmap_load(dir, stage_check, stderr, &e);
	const char *const *names;
	size_t n;

	if (map == NULL) {
		fprintf(stderr, "evspace map: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	printf("%s: fine; application %s", dir, pathmap_application(map));
	if (pathmap_ranks(map) > 0)
		printf(" with %u rank%s", pathmap_ranks(map), plural(pathmap_ranks(map), "s"));
	n = pathmap_nodes(map, &names);
	printf(", %zu node%s, entry %s, views", n, plural(n, "s"), pathmap_entry(map));
	n = pathmap_views(map, &names);
	for (size_t i = 0; i < n; i++)
		printf(" %s", names[i]);
	putchar('\n');
	pathmap_free(map);
	return EXIT_FINE;
}

static json_t *stages_json(const struct plan_stage *stages, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array,
				      json_pack("{ss ss ss}", "level", level_name(stages[i].level),
						"kind", stages[i].kind, "args", stages[i].args));
	return array;
}

/* The ranks in the mapping, by node: {"w0": [0, 1], ...}. */
static json_t *ranks_json(const struct pathmap *map)
{
	unsigned n = pathmap_ranks(map);
	json_t *nodes = json_object();

	/* if their number is open, those that are placed, unless all are on one node */
	if (n == 0 && pathmap_rank_node(map, RANKS_MAX) == NULL)
		n = RANKS_MAX;
	for (unsigned rank = 0; rank < n; rank++) {
		const char *node = pathmap_rank_node(map, rank);
		json_t *ranks = node != NULL ? json_object_get(nodes, node) : NULL;

		if (node != NULL && ranks == NULL) {
			ranks = json_array();
			json_object_set_new(nodes, node, ranks);
		}
		if (node != NULL)
			json_array_append_new(ranks, json_integer(rank));
	}
	return nodes;
}

static json_t *alternates_json(const struct plan_place *place)
{
	json_t *array = json_array();

	for (size_t i = 0; i < place->n_alternates; i++)
		json_array_append_new(array, json_pack("{ss ss}", "node", place->alternates[i].node,
						       "address", place->alternates[i].address));
	return array;
}

static json_t *place_json(const struct plan_place *place, json_t *ranks)
{
	json_t *object =
		json_pack("{ss so so sb so so}", "node", place->node, "cluster",
			  json_text(place->cluster), "address", json_text(place->address), "leaf",
			  (int)place->leaf, "local", stages_json(place->local, place->n_local),
			  "joined", stages_json(place->joined, place->n_joined));
	json_t *children = json_array();

	if (place->n_children > 0) {
		json_object_set_new(object, "concurrency", json_integer(place->concurrency));
		json_object_set_new(object, "alternates", alternates_json(place));
	}
	if (place->leaf && json_object_get(ranks, place->node) != NULL)
		json_object_set(object, "ranks", json_object_get(ranks, place->node));
	for (size_t i = 0; i < place->n_children; i++)
		json_array_append_new(children, place_json(place->children[i], ranks));
	json_object_set_new(object, "children", children);
	return object;
}

static void plan_json(const struct plan *plan, const struct pathmap *map, const struct cost *cost)
{
	json_t *select = json_array(), *ranks = ranks_json(map);

	for (size_t i = 0; i < plan->n_select; i++)
		json_array_append_new(select, json_string(plan->select[i]));
	json_print(json_pack("{ss ss so sI so so}", "view", plan->view, "read",
			     reading_name(plan->reading, plan->of->sample), "select", select,
			     "hosts", (json_int_t)plan->n_places, "root",
			     place_json(plan->root, ranks), "predicted", map_cost_json(cost)),
		   stdout);
	json_decref(ranks);
}

static int view_show(const struct pathmap *map, const char *view, const struct map_options *options,
		     const struct calibration *c)
{
	struct plan_wish wish = {
		.view = view,
		.tree = options->tree,
		.concurrency = options->concurrency,
	};
	int result = EXIT_FINE;
	struct plan *plan;
	struct cost cost;
	struct error e;

	if (options->define != NULL)
		wish.definition = (struct definition){options->define, strlen(options->define)};
	if (plan_make_wish(map, &wish, &plan, &e) < 0) {
		fprintf(stderr, "evspace map: %s\n", e.text);
		return EXIT_USAGE;
	}
	cost_predict(&cost, plan, map, c, options->window);
	if (cost_allowed(&cost, plan, map, &e) < 0) {
		fprintf(stderr, "evspace map: %s\n", e.text);
		result = EXIT_USAGE;
	} else if (options->common.json) {
		plan_json(plan, map, &cost);
	} else if (options->dot) {
		plan_dot(plan, map, stdout);
	} else {
		plan_print(plan, map, stdout);
		putchar('\n');
		map_cost_print(&cost, stdout);
	}
	cost_fini(&cost);
	plan_free(plan);
	return result;
}

static int suggest(const struct map_options *options)
{
	struct error e;
	struct pathmap *map = pathmap_load(options->dir, stage_check, stderr, &e);
	int result;

	if (map == NULL) {
		fprintf(stderr, "evspace map: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	result = map_suggest(map, options->view, options->window, options->common.json);
	pathmap_free(map);
	return result;
}

static int show(const struct map_options *options)
{
	struct error e;
	struct pathmap *map = pathmap_load(options->dir, stage_check, stderr, &e);
	const char *const only[] = {options->define != NULL ? DEFINITION_VIEW : options->view};
	const char *const *views;
	struct calibration c;
	int result = EXIT_FINE;
	size_t n;

	if (map == NULL) {
		fprintf(stderr, "evspace map: %s\n", e.text);
		return EXIT_BAD_NEWS;
	}
	map_calibration(&c);
	n = pathmap_views(map, &views);
	if (only[0] != NULL) {
		views = only;
		n = 1;
	} else if (!options->dot) {
		map_say(map, options->common.json);
	}
	if (options->define != NULL && !options_definition("evspace map", options->define, map))
		result = EXIT_USAGE;
	for (size_t i = 0; i < n && result == EXIT_FINE; i++) {
		if (only[0] == NULL && pathmap_view(map, views[i])->quiet)
			continue;
		if (i > 0 && !options->common.json && !options->dot)
			putchar('\n');
		result = view_show(map, views[i], options, &c);
	}
	calibration_fini(&c);
	pathmap_free(map);
	return result;
}

/* Actions, in the order of --help; the first ones use the options here. */
enum { CHECK, SHOW, SUGGEST, DISCOVER };
static const char *const actions[] = {"check", "show",	"suggest", "discover",
				      "diff",  "apply", "rollback"};

#define ACTIONS (sizeof(actions) / sizeof(actions[0]))

/* What is wrong with the words or their combination; NULL: nothing. */
static const char *words_wrong(const struct map_options *o, int action)
{
	if (o->dot && o->common.json)
		return "--dot and --json exclude each other";
	if (o->common.n_words == 0)
		return "say what to do: check, show, suggest, discover, diff, apply or rollback";
	if (action >= DISCOVER)
		return "discover, diff, apply and rollback stand before their options";
	if (o->common.n_words == 1)
		return "say which directory the maps are in";
	if (o->common.n_words > 2)
		return "one directory at a time";
	if (o->view != NULL && o->define != NULL)
		return "--view and --define exclude each other";
	if (action == CHECK && (o->dot || o->view != NULL || o->define != NULL))
		return "--view, --define and --dot go with 'show'";
	if (action != SHOW && (o->tree != NULL || o->concurrency != NULL))
		return "--tree and --concurrency go with 'show'";
	if (action == SUGGEST && (o->dot || o->view == NULL))
		return "'suggest' needs --view VIEW, and draws no graph";
	return NULL;
}

int map_main(int argc, char **argv)
{
	struct map_options o = {.window = 16};
	const char *wrong;
	int code, action = -1;

	if (argc > 1 && (strcmp(argv[1], "diff") == 0 || strcmp(argv[1], "apply") == 0 ||
			 strcmp(argv[1], "rollback") == 0))
		return map_change_main(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "discover") == 0)
		return discover_main(argc - 1, argv + 1);
	code = options_parse(argc, argv, &map_usage, &o, &o.common);
	if (code >= 0)
		return code;
	if (o.common.n_words > 0) {
		action = options_word(argv[0], o.common.words[0], actions, ACTIONS);
		if (action < 0)
			return EXIT_USAGE;
	}
	wrong = words_wrong(&o, action);
	if (wrong != NULL) {
		fprintf(stderr, "evspace map: %s; try 'evspace map --help'\n", wrong);
		return EXIT_USAGE;
	}
	o.dir = o.common.words[1];
	if (action == SHOW)
		return show(&o);
	if (action == SUGGEST)
		return suggest(&o);
	return o.common.json ? check_json(o.dir) : check_text(o.dir);
}
