/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks application.map. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/application-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/pattern.h"
#include "pathmap/model/hostlist.h"

static const char *const contexts[] = {
	[IN_MAP] = "application.map", [IN_APPLICATION] = "application",
	[IN_COLLECT] = "collect",     [IN_ELEMENTS] = "elements",
	[IN_MADE] = "element",	      [IN_VIEW] = "view",
	[IN_VIEWS] = "views",	      NULL,
};

/* Add the ranks of one word to @list. Returns whether all are new and valid. */
static bool ranks_add(struct reader *reader, const struct word *word, struct rank_list *list,
		      bool *seen)
{
	size_t before = list->n, at;
	struct error e;

	if (rank_list_add(list, word->text, &at, &e) < 0) {
		reader_complain_at(reader, word, at, "%s", e.text);
		return false;
	}
	for (size_t i = before; i < list->n; i++) {
		if (seen[list->ranks[i]]) {
			reader_complain(reader, word, "rank%u is named twice; name it once",
					list->ranks[i]);
			return false;
		}
		seen[list->ranks[i]] = true;
	}
	return true;
}

static void ranks_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application_map *map = reader->map;
	struct application *application = target;
	struct rank_list list = {0};
	bool right = true, *seen;
	size_t missing = 0;

	map->has_ranks = true;
	if (statement->n_words == 2 && strcmp(statement->words[1].text, "any") == 0)
		return;
	seen = memory_new(RANKS_MAX + 1, sizeof(*seen));
	for (size_t i = 1; i < statement->n_words; i++)
		right = ranks_add(reader, &statement->words[i], &list, seen) && right;
	while (seen[missing])
		missing++;
	if (right && missing < list.n)
		reader_complain(reader, &statement->words[1],
				"rank%zu is missing; ranks run from rank0 without holes, as in "
				"MPI_COMM_WORLD",
				missing);
	else if (right)
		application->ranks = (unsigned)list.n;
	free(list.ranks);
	free(seen);
}

static void application_capacity_apply(struct reader *reader, void *target,
				       const struct statement *statement)
{
	struct application *application = target;

	capacity_read(reader, &statement->words[1], &application->capacity);
}

static void budget_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct application *application = target;
	struct error e;

	if (quantity_share(word->text, &application->budget, &e) < 0)
		reader_complain(reader, word,
				"%s; a budget is what all consumers of a run may slow it down by, "
				"together",
				e.text);
}

static void collect_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;
	struct recording recording = {.collected = true};

	if (only_apply(reader, application, statement))
		return;
	directives_apply(reader, IN_COLLECT, statement->body, statement->n_body, &recording);
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		int channel = recording_channel(word->text);

		if (channel < 0)
			reader_complain_unknown(reader, word, "channel", recording_channels,
						RECORDING_CHANNELS);
		else if (application->recordings[channel].collected)
			reader_complain(reader, word, "channel `%s` is named twice; name it once",
					word->text);
		else
			application->recordings[channel] = recording;
	}
}

static void view_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;
	const struct word *word = &statement->words[1];
	const struct view *same = application_view(application, word->text);
	size_t before = reader->diagnostics->total;
	struct view *view;
	struct error e;

	if (name_part_check(word->text, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	else if (same != NULL)
		reader_complain(reader, word, "a second view `%s`; the first is in line %zu",
				word->text, mapfile_line(reader->source, same->offset));
	else if (application->n_views == VIEWS_MAX)
		reader_complain(reader, word, "more than %d views; leave some out", VIEWS_MAX);
	view = view_new(word->text);
	view->offset = word->offset;
	directives_apply(reader, IN_VIEW, statement->body, statement->n_body, view);
	if (!view->has_reading && view->n_uses == 0 && reader->diagnostics->total == before)
		reader_complain(reader, word,
				"view `%s` does not say how it reads; add `read latest;`, "
				"`read stream;`, `read counts;` or `read sample;`",
				word->text);
	application_add(application, view);
}

static void views_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;

	application->definable.said = true;
	directives_apply(reader, IN_VIEWS, statement->body, statement->n_body,
			 &application->definable);
}

static void application_apply(struct reader *reader, void *target,
			      const struct statement *statement);

static const struct directive directives[] = {
	{.usage = "application NAME { ... }",
	 .contexts = 1u << IN_MAP,
	 .body = BODY_REQUIRED,
	 .once = true,
	 .apply = application_apply},
	{.usage = "ranks rank[0-11];` or `ranks any;",
	 .contexts = 1u << IN_APPLICATION,
	 .most = DIRECTIVE_ANY,
	 .once = true,
	 .apply = ranks_apply},
	{.usage = "budget PERCENT;",
	 .contexts = 1u << IN_APPLICATION,
	 .once = true,
	 .apply = budget_apply},
	{.usage = "capacity TUPLES;",
	 .contexts = 1u << IN_APPLICATION,
	 .once = true,
	 .apply = application_capacity_apply},
	{.usage = "capacity TUPLES;",
	 .contexts = 1u << IN_COLLECT | 1u << IN_ELEMENTS,
	 .once = true,
	 .apply = recording_capacity_apply},
	{.usage = "element thread|comm|op|site;",
	 .contexts = 1u << IN_COLLECT,
	 .once = true,
	 .apply = recording_element_apply},
	{.usage = "lifetime TIME;",
	 .contexts = 1u << IN_COLLECT | 1u << IN_ELEMENTS,
	 .once = true,
	 .apply = recording_lifetime_apply},
	{.usage = "mode trace|time|count|sample|off;",
	 .contexts = 1u << IN_COLLECT | 1u << IN_ELEMENTS,
	 .once = true,
	 .apply = recording_mode_apply},
	{.usage = "remote NODE;` or `remote NODE capacity TUPLES;",
	 .contexts = 1u << IN_COLLECT | 1u << IN_ELEMENTS,
	 .most = 3,
	 .once = true,
	 .apply = recording_remote_apply},
	{.usage = "collect CHANNEL ...;`, `collect CHANNEL ... { element KIND; ... }` or `collect "
		  "rank[0-7];",
	 .contexts = 1u << IN_APPLICATION,
	 .most = DIRECTIVE_ANY,
	 .body = BODY_OPTIONAL,
	 .apply = collect_apply},
	{.usage = "elements PATTERN ... { capacity TUPLES; lifetime TIME; mode MODE; remote "
		  "NODE; }",
	 .contexts = 1u << IN_APPLICATION,
	 .most = DIRECTIVE_ANY,
	 .body = BODY_REQUIRED,
	 .apply = elements_apply},
	{.usage = "element NAME { f64 residual; capacity TUPLES; patience TIME; on NODE ...; run "
		  "NAME; }",
	 .contexts = 1u << IN_APPLICATION,
	 .body = BODY_REQUIRED,
	 .apply = made_apply},
	{.usage = "i32 FIELD ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .apply = made_field_apply},
	{.usage = "u32 FIELD ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .apply = made_field_apply},
	{.usage = "i64 FIELD ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .apply = made_field_apply},
	{.usage = "u64 FIELD ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .apply = made_field_apply},
	{.usage = "f32 FIELD ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .apply = made_field_apply},
	{.usage = "f64 FIELD ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .apply = made_field_apply},
	{.usage = "text FIELD ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .apply = made_field_apply},
	{.usage = "capacity TUPLES;",
	 .contexts = 1u << IN_MADE,
	 .once = true,
	 .apply = made_capacity_apply},
	{.usage = "patience TIME;",
	 .contexts = 1u << IN_MADE,
	 .once = true,
	 .apply = made_patience_apply},
	{.usage = "on NODE ...;",
	 .contexts = 1u << IN_MADE,
	 .most = DIRECTIVE_ANY,
	 .once = true,
	 .apply = made_on_apply},
	{.usage = "run NAME;", .contexts = 1u << IN_MADE, .once = true, .apply = made_run_apply},
	{.usage = "view NAME { use VIEW; select PATTERN; read latest|stream|counts|sample; LEVEL "
		  "STAGE; "
		  "... }",
	 .contexts = 1u << IN_APPLICATION,
	 .body = BODY_REQUIRED,
	 .apply = view_apply},
	{.usage = "stage NAME from \"FILE.so\";",
	 .contexts = 1u << IN_APPLICATION,
	 .least = 3,
	 .apply = stage_alias_apply},
	{.usage = "views { defined by observe; stages at most 8; ... }",
	 .contexts = 1u << IN_APPLICATION,
	 .most = DIRECTIVE_BARE,
	 .body = BODY_REQUIRED,
	 .once = true,
	 .apply = views_apply},
	{.usage = "defined by observe|control|none;",
	 .contexts = 1u << IN_VIEWS,
	 .least = 2,
	 .once = true,
	 .apply = definable_by_apply},
	{.usage = "stages at most N;",
	 .contexts = 1u << IN_VIEWS,
	 .least = 3,
	 .once = true,
	 .apply = definable_stages_apply},
	{.usage = "open at most N;",
	 .contexts = 1u << IN_VIEWS,
	 .least = 3,
	 .once = true,
	 .apply = definable_open_apply},
	{.usage = "window at most N;",
	 .contexts = 1u << IN_VIEWS,
	 .least = 3,
	 .once = true,
	 .apply = definable_window_apply},
	{.usage = "cost at most TIME;",
	 .contexts = 1u << IN_VIEWS,
	 .least = 3,
	 .once = true,
	 .apply = definable_cost_apply},
	{.usage = "kinds STAGE ...;",
	 .contexts = 1u << IN_VIEWS,
	 .most = DIRECTIVE_ANY,
	 .once = true,
	 .apply = definable_kinds_apply},
	{.usage = "trees SHAPE ...;",
	 .contexts = 1u << IN_VIEWS,
	 .most = DIRECTIVE_ANY,
	 .once = true,
	 .apply = definable_trees_apply},
	{.usage = "concurrency at most N;",
	 .contexts = 1u << IN_VIEWS,
	 .least = 3,
	 .once = true,
	 .apply = definable_concurrency_apply},
	{.usage = "select PATTERN ...;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .apply = select_apply},
	{.usage = "read latest;`, `read stream;`, `read counts;` or `read sample every 100us to "
		  "10ms;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .once = true,
	 .apply = read_apply},
	{.usage = "use VIEW ...;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .apply = use_apply},
	{.usage = "element STAGE ARGUMENTS;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .apply = stage_apply},
	{.usage = "thread STAGE ARGUMENTS;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .apply = stage_apply},
	{.usage = "node STAGE ARGUMENTS;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .apply = stage_apply},
	{.usage = "cluster STAGE ARGUMENTS;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .apply = stage_apply},
	{.usage = "all STAGE ARGUMENTS;",
	 .contexts = 1u << IN_VIEW,
	 .most = DIRECTIVE_ANY,
	 .apply = stage_apply},
};

static void application_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	struct application_map *map = reader->map;
	const struct word *word = &statement->words[1];
	size_t before = reader->diagnostics->total;
	struct error e;

	(void)target;
	if (name_part_check(word->text, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	free(map->application->name);
	map->application->name = memory_copy(word->text);
	directives_apply(reader, IN_APPLICATION, statement->body, statement->n_body,
			 map->application);
	if (!map->has_ranks && reader->diagnostics->total == before)
		reader_complain(
			reader, word,
			"`%s` does not say its ranks; add `ranks rank[0-11];`, or `ranks any;` "
			"to leave it open",
			word->text);
}

_Static_assert(sizeof(directives) / sizeof(directives[0]) <= DIRECTIVES_MAX, "room for all rows");

void application_reader(struct reader *reader, struct application_map *map,
			const struct mapfile *source, struct diagnostics *diagnostics)
{
	*reader = (struct reader){
		.source = source,
		.diagnostics = diagnostics,
		.table = directives,
		.n_table = sizeof(directives) / sizeof(directives[0]),
		.contexts = contexts,
		.map = map,
		.unknown = stage_alone,
	};
}

void application_read(struct application *application, const struct mapfile *source,
		      pathmap_stage_check *check, struct diagnostics *diagnostics)
{
	struct application_map map = {
		.application = application, .check = check, .aliases = &application->aliases};
	struct reader reader;

	application_reader(&reader, &map, source, diagnostics);
	*application = (struct application){.check = check};
	reader_begin(&reader, IN_MAP, NULL);
	if (application->name == NULL) {
		application->name = memory_copy("");
		if (reader_is_clean(&reader))
			complain_file(diagnostics, source,
				      "there is no application in it; write `application NAME { "
				      "ranks any; }`");
	}
	application_finish(application);
	application_resolve(application, source, diagnostics);
	application->incomplete = !reader_is_clean(&reader);
	reader_end(&reader);
}
