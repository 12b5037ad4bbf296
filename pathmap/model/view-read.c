/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks what a view says: which elements, how they are read, its stages. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/application-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/model/sampling.h"

void select_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct view *view = target;

	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		struct error e;
		size_t at;

		if (pattern_check_at(word->text, &at, &e) < 0 ||
		    recording_pattern_check(word->text, &at, &e) < 0)
			reader_complain_at(reader, word, at, "%s", e.text);
		else if (view->n_select == PATTERNS_MAX)
			reader_complain(reader, word,
					"more than %u patterns; use `*` or `[0-7]` for several "
					"names at once",
					PATTERNS_MAX);
		else
			view_select(view, word->text);
	}
}

/* What stands behind word @from, for the caller to free(). */
static char *words_join(const struct statement *statement, size_t from)
{
	char *text = memory_copy(statement->n_words > from ? statement->words[from].text : "");

	for (size_t i = from + 1; i < statement->n_words; i++) {
		char *longer = memory_format("%s %s", text, statement->words[i].text);

		free(text);
		text = longer;
	}
	return text;
}

/* How samples are taken; nothing said is said, too. */
static void sample_apply(struct reader *reader, struct view *view,
			 const struct statement *statement)
{
	char *text = words_join(statement, 2);
	struct sampling sampling;
	struct error e;

	if (sampling_parse(&sampling, text, true, &e) < 0)
		reader_complain(reader, &statement->words[1], "%s", e.text);
	view->reading = READ_STREAM;
	free(view->sample);
	view->sample = *text ? text : memory_format("window %u", sampling.window);
	if (view->sample != text)
		free(text);
}

void read_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct view *view = target;

	view->has_reading = true;
	if (strcmp(word->text, "sample") == 0)
		sample_apply(reader, view, statement);
	else if (statement->n_words > 2)
		reader_complain(reader, &statement->words[2], "nothing more behind `read %.60s`",
				word->text);
	else if (strcmp(word->text, "latest") == 0)
		view->reading = READ_LATEST;
	else if (strcmp(word->text, "stream") == 0)
		view->reading = READ_STREAM;
	else if (strcmp(word->text, "counts") == 0)
		view->reading = READ_COUNTS;
	else
		reader_complain(
			reader, word,
			"unknown reading `%.60s`; write `read latest;` (the newest tuple of "
			"each element), `read stream;` (all since the last wave), `read "
			"counts;` (what classes of operations have counted) or `read sample;` "
			"(what "
			"threads are seen to do now and then)",
			word->text);
}

void use_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct view *view = target;

	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];

		if (view->n_uses == VIEW_USES_MAX)
			reader_complain(reader, word, "more than %u views; leave some out",
					VIEW_USES_MAX);
		else
			view_use(view, word->text, word->offset);
	}
}

#define KINDS_TEXT 256

/* "`filter`, `sketch`": what the map lets consumers have, in @list. */
static const char *kinds_text(const struct definable *definable, char list[KINDS_TEXT])
{
	list[0] = '\0';
	for (size_t i = 0; i < definable->n_kinds; i++)
		snprintf(list + strlen(list), KINDS_TEXT - strlen(list), "%s`%.60s`", i ? ", " : "",
			 definable->kinds[i]);
	return list;
}

static void complain_forbidden(struct reader *reader, const struct word *kind)
{
	const struct application_map *map = reader->map;
	char list[KINDS_TEXT];

	reader_complain(reader, kind,
			"the map lets consumers' own views have no stage `%.60s`, but %s",
			kind->text, kinds_text(map->definable, list));
}

/* Say it if a view may not have this stage as well. Returns whether it may. */
static bool stage_allow(struct reader *reader, const struct view *view, const struct word *kind,
			bool foreign)
{
	const struct application_map *map = reader->map;
	const struct definable *definable = map->definable;

	if (view->n_stages == (definable ? definable->stages : VIEW_STAGES_MAX)) {
		reader_complain(reader, kind, "more than %zu stages%s; leave some out",
				view->n_stages,
				definable ? ", which is what the map lets consumers define" : "");
		return false;
	}
	if (definable && definable->n_kinds == 0 && foreign) {
		reader_complain(
			reader, kind,
			"`%.60s` is a stage of others, which the map lets consumers use only "
			"if `kinds` in its `views { ... }` names it",
			kind->text);
		return false;
	}
	if (definable && !definable_has(definable, kind->text)) {
		complain_forbidden(reader, kind);
		return false;
	}
	return true;
}

/* Nobody has a stage @word: say so, and what there is here. @e: what there is everywhere. */
static void complain_unknown(struct reader *reader, const struct word *word, const struct error *e)
{
	const struct application_map *map = reader->map;
	const char *nearest = map->aliases ? stage_alias_nearest(map->aliases, word->text) : NULL;
	char list[KINDS_TEXT];

	if (nearest != NULL && (!map->definable || definable_has(map->definable, nearest)))
		reader_complain(reader, word, "there is no stage \"%.60s\"; did you mean \"%s\"?",
				word->text, nearest);
	else if (map->definable && map->definable->n_kinds > 0)
		reader_complain(
			reader, word,
			"there is no stage \"%.60s\"; the map lets consumers' own views have %s",
			word->text, kinds_text(map->definable, list));
	else
		reader_complain(reader, word, "%s", e->text);
}

/* Make @stage, whose kind is @word, one of the file that the map says, or see whether it is one of
 * ours. Returns 0, or -1 after a diagnostic. */
static int stage_find_kind(struct reader *reader, const struct word *word, struct plan_stage *stage)
{
	const struct application_map *map = reader->map;
	const char *file = map->aliases ? stage_alias_file(map->aliases, word->text) : NULL;
	struct error e, none;

	/* files are named by `stage NAME from "FILE.so"` alone */
	if (strchr(word->text, '.')) {
		reader_complain(reader, word,
				"`%.60s` is no stage; give the file a name by `stage NAME from "
				"\"%.60s\";` in the application, and write that",
				word->text, word->text);
		return -1;
	}
	if (file)
		stage->kind = (char *)(uintptr_t)file;
	if (map->check == NULL)
		return 0;
	/* a map that is elsewhere may have a stage of others by this name */
	if (!map->aliases && map->check(word->text, NULL, NULL, NULL, &e) < 0) {
		stage->traits.foreign = "";
		return 0;
	}
	if (map->check(stage->kind, stage->args, NULL, &stage->traits, &e) == 0)
		return 0;
	if (!file && map->check(word->text, NULL, NULL, NULL, &none) < 0)
		complain_unknown(reader, word, &e);
	else
		reader_complain(reader, word, "%s", e.text);
	return -1;
}

bool stage_alone(struct reader *reader, unsigned context, const struct word *word)
{
	const struct application_map *map = reader->map;
	struct error e;

	if (context != IN_VIEW || map->check == NULL ||
	    (map->check(word->text, NULL, NULL, NULL, &e) < 0 &&
	     (map->aliases == NULL || stage_alias_file(map->aliases, word->text) == NULL)))
		return false;
	reader_complain(reader, word,
			"no level before the stage `%.60s`; write `all %.60s`, or element, thread, "
			"node or cluster instead of all",
			word->text, word->text);
	return true;
}

void stage_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *words = statement->words;
	struct view *view = target;
	struct plan_stage stage = {
		.kind = words[1].text,
		.args = words_join(statement, 2),
		.offset = words[1].offset,
	};

	while (strcmp(level_name(stage.level), words[0].text) != 0)
		stage.level++;
	if (view->n_stages > 0 && stage.level < view->stages[view->n_stages - 1].level)
		reader_complain(
			reader, &words[0],
			"a stage at level `%s` behind one at level `%s`; order them from the "
			"elements up: element, thread, node, cluster, all",
			words[0].text, level_name(view->stages[view->n_stages - 1].level));
	else if (stage_find_kind(reader, &words[1], &stage) == 0 &&
		 stage_allow(reader, view, &words[1], stage.kind != words[1].text))
		view_stage(view, &stage);
	free(stage.args);
}
