/* SPDX-License-Identifier: BSD-3-Clause */
/* The application map: the program's threads, what is collected of them, and its views. */
#include "pathmap/application.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/directive.h"
#include "pathmap/memory.h"
#include "pathmap/pattern.h"
#include "pathmap/quantity.h"
#include "pathmap/rank.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/* The blocks of an application map. */
enum context { IN_MAP, IN_APPLICATION, IN_COLLECT, IN_VIEW };

static const char *const contexts[] = {
	[IN_MAP] = "application.map",
	[IN_APPLICATION] = "application",
	[IN_COLLECT] = "collect",
	[IN_VIEW] = "view",
	NULL,
};

static const char *const channels[APPLICATION_CHANNELS] = {
	"p2p", "collective", "wait", "completion", "comm", "env",
};

static const char *const levels[LEVEL_COUNT] = {
	[LEVEL_ELEMENT] = "element", [LEVEL_THREAD] = "thread", [LEVEL_NODE] = "node",
	[LEVEL_CLUSTER] = "cluster", [LEVEL_ALL] = "all",
};

/* What the rows below work on. */
struct application_map {
	struct application *application;
	pathmap_stage_check *check;
	bool seen;
};

const char *level_name(enum level level)
{
	return levels[level];
}

int application_channel(const char *name)
{
	for (int i = 0; i < APPLICATION_CHANNELS; i++) {
		if (strcmp(channels[i], name) == 0)
			return i;
	}
	return -1;
}

const struct view *application_view(const struct application *application, const char *name)
{
	for (size_t i = 0; i < application->n_views; i++) {
		if (strcmp(application->views[i]->name, name) == 0)
			return application->views[i];
	}
	return NULL;
}

static void ranks_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;
	struct rank_list list = {0};
	bool *seen = memory_new(RANKS_MAX, sizeof(*seen));
	struct error e;
	size_t at;

	if (statement->n_words == 2 && strcmp(statement->words[1].text, "any") == 0) {
		application->has_ranks = true;
		free(seen);
		return;
	}
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		size_t before = list.n;

		if (rank_list_add(&list, word->text, &at, &e) < 0) {
			reader_complain_at(reader, word, at, "%s", e.text);
			goto out;
		}
		for (size_t j = before; j < list.n; j++) {
			if (seen[list.ranks[j]]) {
				reader_complain(reader, word, "rank%u is named twice; name it once",
						list.ranks[j]);
				goto out;
			}
			seen[list.ranks[j]] = true;
		}
	}
	for (size_t i = 0; i < list.n; i++) {
		if (!seen[i]) {
			reader_complain(
				reader, &statement->words[1],
				"rank%zu is missing; ranks run from rank0 without holes, as in "
				"MPI_COMM_WORLD",
				i);
			goto out;
		}
	}
	application->has_ranks = true;
	application->ranks = (unsigned)list.n;
out:
	free(list.ranks);
	free(seen);
}

static void capacity_apply(struct reader *reader, void *target, const struct statement *statement)
{
	unsigned *capacity = target;
	struct error e;

	if (quantity_count(statement->words[1].text, CAPACITY_LEAST, CAPACITY_MOST, capacity, &e) <
	    0)
		reader_complain(reader, &statement->words[1],
				"%s; a capacity is the tuples that an element holds", e.text);
}

static void application_capacity_apply(struct reader *reader, void *target,
				       const struct statement *statement)
{
	struct application *application = target;

	capacity_apply(reader, &application->capacity, statement);
}

static void collect_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;
	unsigned capacity = 0;

	directives_apply(reader, IN_COLLECT, statement->body, statement->n_body, &capacity);
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		int channel = application_channel(word->text);

		if (channel < 0) {
			const char *nearest = word_nearest(word->text, channels,
							   ARRAY_SIZE(channels), sizeof(*channels));

			reader_complain(
				reader, word,
				"unknown channel `%.60s`; %s%s%s channels are p2p, collective, "
				"wait, completion, comm, env",
				word->text, nearest != NULL ? "did you mean `" : "",
				nearest != NULL ? nearest : "", nearest != NULL ? "`?" : "the");
		} else if (application->collected[channel]) {
			reader_complain(reader, word, "channel `%s` is named twice; name it once",
					word->text);
		} else {
			application->collected[channel] = true;
			application->capacities[channel] = capacity;
		}
	}
}

static void select_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct view *view = target;

	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		struct error e;
		size_t at;

		if (pattern_check_at(word->text, &at, &e) < 0) {
			reader_complain_at(reader, word, at, "%s", e.text);
			continue;
		}
		view->select = memory_room(view->select, view->n_select, sizeof(*view->select));
		view->select[view->n_select++] = memory_copy(word->text);
	}
}

static void read_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct view *view = target;

	view->has_reading = true;
	if (strcmp(word->text, "latest") == 0)
		view->reading = READ_LATEST;
	else if (strcmp(word->text, "stream") == 0)
		view->reading = READ_STREAM;
	else
		reader_complain(reader, word,
				"unknown `%.60s`; write `read latest;` (the newest tuple of each "
				"element) or `read stream;` (all since the last wave)",
				word->text);
}

static void stage_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct application_map *map = reader->map;
	const struct word *words = statement->words;
	struct view *view = target;
	struct plan_stage stage = {.level = LEVEL_ELEMENT};
	struct error e;

	while (strcmp(levels[stage.level], words[0].text) != 0)
		stage.level++;
	if (view->n_stages > 0 && stage.level < view->stages[view->n_stages - 1].level) {
		const char *above = levels[view->stages[view->n_stages - 1].level];

		reader_complain(
			reader, &words[0],
			"a stage at level `%s` behind one at level `%s`; order them from the "
			"elements up: element, thread, node, cluster, all",
			words[0].text, above);
		return;
	}
	stage.kind = memory_copy(words[1].text);
	stage.args = memory_copy(statement->n_words > 2 ? words[2].text : "");
	for (size_t i = 3; i < statement->n_words; i++) {
		char *longer = memory_format("%s %s", stage.args, words[i].text);

		free(stage.args);
		stage.args = longer;
	}
	if (map->check != NULL && map->check(stage.kind, stage.args, &e) < 0)
		reader_complain(reader, &words[1], "%s", e.text);
	view->stages = memory_room(view->stages, view->n_stages, sizeof(*view->stages));
	view->stages[view->n_stages++] = stage;
}

static struct view *view_new(struct application *application, const char *name)
{
	struct view *view = memory_new(1, sizeof(*view));

	view->name = memory_copy(name);
	application->views =
		memory_room(application->views, application->n_views, sizeof(struct view *));
	application->views[application->n_views++] = view;
	return view;
}

static void view_select_all(struct view *view)
{
	view->select = memory_room(NULL, 0, sizeof(*view->select));
	view->select[view->n_select++] = memory_copy("/**");
}

static void view_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	const struct view *same = application_view(target, word->text);
	struct view *view;
	struct error e;
	size_t complaints = reader->complaints->total;

	if (name_part_check(word->text, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	else if (same != NULL)
		reader_complain(reader, word, "a second view `%s`; the first is in line %zu",
				word->text, source_line(reader->source, same->offset));
	view = view_new(target, word->text);
	view->offset = word->offset;
	directives_apply(reader, IN_VIEW, statement->body, statement->n_body, view);
	if (!view->has_reading && reader->complaints->total == complaints)
		reader_complain(reader, word,
				"view `%s` does not say how it reads; add `read latest;` or "
				"`read stream;`",
				word->text);
	if (view->n_select == 0)
		view_select_all(view);
}

static void application_apply(struct reader *reader, void *target,
			      const struct statement *statement);

static const struct directive directives[] = {
	{
		.keyword = "application",
		.usage = "application NAME { ... }",
		.contexts = 1u << IN_MAP,
		.least = 1,
		.most = 1,
		.body = BODY_REQUIRED,
		.once = true,
		.apply = application_apply,
	},
	{
		.keyword = "ranks",
		.usage = "ranks rank[0-11];` or `ranks any;",
		.contexts = 1u << IN_APPLICATION,
		.least = 1,
		.most = SIZE_MAX - 1,
		.once = true,
		.apply = ranks_apply,
	},
	{
		.keyword = "capacity",
		.usage = "capacity TUPLES;",
		.contexts = 1u << IN_APPLICATION,
		.least = 1,
		.most = 1,
		.once = true,
		.apply = application_capacity_apply,
	},
	{
		.keyword = "capacity",
		.usage = "capacity TUPLES;",
		.contexts = 1u << IN_COLLECT,
		.least = 1,
		.most = 1,
		.once = true,
		.apply = capacity_apply,
	},
	{
		.keyword = "collect",
		.usage = "collect CHANNEL ... ;` or `collect CHANNEL ... { capacity TUPLES; }",
		.contexts = 1u << IN_APPLICATION,
		.least = 1,
		.most = APPLICATION_CHANNELS,
		.body = BODY_OPTIONAL,
		.apply = collect_apply,
	},
	{
		.keyword = "view",
		.usage = "view NAME { select PATTERN; read latest|stream; LEVEL STAGE; ... }",
		.contexts = 1u << IN_APPLICATION,
		.least = 1,
		.most = 1,
		.body = BODY_REQUIRED,
		.apply = view_apply,
	},
	{
		.keyword = "select",
		.usage = "select PATTERN ... ;",
		.contexts = 1u << IN_VIEW,
		.least = 1,
		.most = SIZE_MAX - 1,
		.apply = select_apply,
	},
	{
		.keyword = "read",
		.usage = "read latest;` or `read stream;",
		.contexts = 1u << IN_VIEW,
		.least = 1,
		.most = 1,
		.once = true,
		.apply = read_apply,
	},
#define STAGE_ROW(level)                                                                         \
	{                                                                                        \
		.keyword = level, .usage = level " STAGE ARGUMENTS;", .contexts = 1u << IN_VIEW, \
		.least = 1, .most = SIZE_MAX - 1, .apply = stage_apply,                          \
	}
	STAGE_ROW("element"),
	STAGE_ROW("thread"),
	STAGE_ROW("node"),
	STAGE_ROW("cluster"),
	STAGE_ROW("all"),
#undef STAGE_ROW
};

static bool is_keyword(const char *word)
{
	return directive_is_keyword(directives, ARRAY_SIZE(directives), word);
}

static void application_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	struct application_map *map = target;
	const struct word *word = &statement->words[1];
	struct error e;

	map->seen = true;
	if (name_part_check(word->text, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	free(map->application->name);
	map->application->name = memory_copy(word->text);
	directives_apply(reader, IN_APPLICATION, statement->body, statement->n_body,
			 map->application);
}

/* The views that every program has, if the map does not have its own by the same name. */
static void views_ship(struct application *application)
{
	struct view *view;

	if (application_view(application, "heartbeat") == NULL) {
		view = view_new(application, "heartbeat");
		view->shipped = true;
		view->reading = READ_LATEST;
		view_select_all(view);
		view->stages = memory_room(NULL, 0, sizeof(*view->stages));
		view->stages[view->n_stages++] = (struct plan_stage){
			.level = LEVEL_THREAD,
			.kind = memory_copy("reduce"),
			.args = memory_copy("last"),
		};
	}
	if (application_view(application, "events") == NULL) {
		view = view_new(application, "events");
		view->shipped = true;
		view->reading = READ_STREAM;
		view_select_all(view);
	}
}

/* Fill in what the map left to the defaults. */
static void application_finish(struct application *application)
{
	bool any = false;

	if (application->capacity == 0)
		application->capacity = CAPACITY_DEFAULT;
	for (size_t i = 0; i < APPLICATION_CHANNELS; i++)
		any = any || application->collected[i];
	for (size_t i = 0; i < APPLICATION_CHANNELS; i++) {
		application->collected[i] = application->collected[i] || !any;
		if (application->capacities[i] == 0)
			application->capacities[i] = application->capacity;
	}
	views_ship(application);
}

void application_init(struct application *application, const char *name)
{
	*application = (struct application){.name = memory_copy(name), .has_ranks = true};
	application_finish(application);
}

void application_read(struct application *application, const struct source *source,
		      pathmap_stage_check *check, struct complaints *complaints)
{
	struct application_map map = {.application = application, .check = check};
	struct reader reader = {
		.source = source,
		.complaints = complaints,
		.table = directives,
		.n_table = ARRAY_SIZE(directives),
		.contexts = contexts,
		.map = &map,
	};
	struct statement *statements;
	size_t n, before = complaints->total;

	*application = (struct application){.name = memory_copy("")};
	n = statements_read(source, is_keyword, complaints, &statements);
	directives_apply(&reader, IN_MAP, statements, n, &map);
	if (!map.seen && complaints->total == before)
		complain_file(complaints, source,
			      "no application in it; write `application NAME { ranks any; }`");
	else if (map.seen && !application->has_ranks && complaints->total == before)
		complain_file(complaints, source,
			      "the application does not say its ranks; add `ranks rank[0-11];`, or "
			      "`ranks any;` to leave it open");
	application_finish(application);
	statements_free(statements, n);
}

void application_fini(struct application *application)
{
	for (size_t i = 0; i < application->n_views; i++) {
		struct view *view = application->views[i];

		for (size_t j = 0; j < view->n_select; j++)
			free(view->select[j]);
		for (size_t j = 0; j < view->n_stages; j++) {
			free(view->stages[j].kind);
			free(view->stages[j].args);
		}
		free(view->select);
		free(view->stages);
		free(view->name);
		free(view);
	}
	free(application->views);
	free(application->name);
	*application = (struct application){0};
}
