/* SPDX-License-Identifier: BSD-3-Clause */
/* What a map lets consumers define: its defaults, its words, and `views { ... }` of
 * application.map. */
#include "pathmap/model/definable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/application-read.h"

/* Without `views`: as much as the longest of the shipped views and some more, so that nobody needs
 * them, and not so many that one consumer shuts out others. */
#define STAGES_DEFAULT 8u
#define OPEN_DEFAULT   4u
#define OPEN_MOST      1024u

/* No consumer has more under way. */
#define WINDOW_MOST 64u

static const char *const definers[] = {
	[DEFINER_OBSERVE] = "observe",
	[DEFINER_CONTROL] = "control",
	[DEFINER_NONE] = "none",
};

#define DEFINERS (sizeof(definers) / sizeof(definers[0]))

void definable_finish(struct definable *definable)
{
	if (definable->stages == 0)
		definable->stages = STAGES_DEFAULT;
	if (definable->open == 0)
		definable->open = OPEN_DEFAULT;
}

void definable_fini(struct definable *definable)
{
	for (size_t i = 0; i < definable->n_kinds; i++)
		free(definable->kinds[i]);
	free(definable->kinds);
	*definable = (struct definable){0};
}

bool definable_has(const struct definable *definable, const char *kind)
{
	for (size_t i = 0; i < definable->n_kinds; i++) {
		if (strcmp(definable->kinds[i], kind) == 0)
			return true;
	}
	return definable->n_kinds == 0;
}

char *definable_text(const struct definable *definable)
{
	char *text = NULL;
	size_t bytes;
	FILE *out;

	if (definable->by == DEFINER_NONE)
		return memory_copy("by none");
	out = open_memstream(&text, &bytes);
	if (out == NULL)
		abort();
	fprintf(out, "by %s, %u stage%s and %u view%s at once at most", definers[definable->by],
		definable->stages, plural(definable->stages, "s"), definable->open,
		plural(definable->open, "s"));
	if (definable->window > 0)
		fprintf(out, ", %u wave%s of each under way", definable->window,
			plural(definable->window, "s"));
	if (definable->cost_ns > 0)
		fprintf(out, ", %g ms of CPU time a wave", (double)definable->cost_ns * 1e-6);
	for (size_t i = 0; i < definable->n_kinds; i++)
		fprintf(out, "%s%s", i == 0 ? ", of " : " ", definable->kinds[i]);
	if (fclose(out) == EOF)
		abort();
	return text;
}

char *definable_shapes(const struct definable *definable)
{
	char *text = NULL;
	bool any = false;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (out == NULL)
		abort();
	for (size_t i = 0; i < TREE_BY_HAND; i++) {
		if (definable->trees[i])
			fprintf(out, "%s %s", any ? "" : "trees", tree_kinds[i]);
		any = any || definable->trees[i];
	}
	if (definable->concurrency_said && definable->concurrency == 0)
		fprintf(out, "%sany concurrency", any ? ", " : "");
	else if (definable->concurrency_said)
		fprintf(out, "%sconcurrency %u at most", any ? ", " : "", definable->concurrency);
	if (fclose(out) == EOF)
		abort();
	return text;
}

/* ---- `views { ... }` ---- */

void definable_by_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct definable *definable = target;
	const struct word *words = statement->words;

	if (strcmp(words[1].text, "by") != 0) {
		reader_complain(reader, &words[1],
				"`%.60s` instead of `by`; write `defined by observe;`",
				words[1].text);
		return;
	}
	for (size_t i = 0; i < DEFINERS; i++) {
		if (strcmp(definers[i], words[2].text) == 0) {
			definable->by = (enum definer)i;
			return;
		}
	}
	reader_complain_unknown(reader, &words[2], "role", definers, DEFINERS);
}

/* Is it `KEYWORD at most ...`? If not, say so. */
static bool at_most(struct reader *reader, const struct word *words)
{
	if (strcmp(words[1].text, "at") == 0 && strcmp(words[2].text, "most") == 0)
		return true;
	reader_complain(reader, &words[1], "`%.60s %.60s` instead of `at most`", words[1].text,
			words[2].text);
	return false;
}

static void count_apply(struct reader *reader, const struct statement *statement, unsigned most,
			unsigned *count)
{
	struct error e;

	if (at_most(reader, statement->words) &&
	    quantity_count(statement->words[3].text, 1, most, count, &e) < 0)
		reader_complain(reader, &statement->words[3], "%s", e.text);
}

void definable_stages_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct definable *definable = target;

	count_apply(reader, statement, VIEW_STAGES_MAX, &definable->stages);
}

void definable_open_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct definable *definable = target;

	count_apply(reader, statement, OPEN_MOST, &definable->open);
}

void definable_window_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct definable *definable = target;

	count_apply(reader, statement, WINDOW_MOST, &definable->window);
}

void definable_cost_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct definable *definable = target;
	const struct word *word = &statement->words[3];
	struct error e;

	if (!at_most(reader, statement->words))
		return;
	if (quantity_duration(word->text, 0, &definable->cost_ns, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	else if (definable->cost_ns == 0)
		reader_complain(reader, word,
				"a view that costs nothing; write `defined by none;` if none "
				"may be defined");
}

void definable_kinds_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct application_map *map = reader->map;
	struct definable *definable = target;

	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		struct error e;

		if (map->check != NULL && stage_alias_file(map->aliases, word->text) == NULL &&
		    map->check(word->text, NULL, NULL, NULL, &e) < 0)
			reader_complain(reader, word, "%s", e.text);
		definable->kinds = memory_room(definable->kinds, definable->n_kinds,
					       sizeof(*definable->kinds));
		definable->kinds[definable->n_kinds++] = memory_copy(word->text);
	}
}

void definable_trees_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct definable *definable = target;

	for (size_t i = 1; i < statement->n_words; i++) {
		size_t kind = 0;

		while (kind < TREE_BY_HAND &&
		       strcmp(tree_kinds[kind], statement->words[i].text) != 0)
			kind++;
		if (kind == TREE_BY_HAND)
			reader_complain_unknown(reader, &statement->words[i],
						"tree for consumers to choose", tree_kinds,
						TREE_BY_HAND);
		else
			definable->trees[kind] = true;
	}
}

void definable_concurrency_apply(struct reader *reader, void *target,
				 const struct statement *statement)
{
	struct definable *definable = target;
	struct error e;

	definable->concurrency_said = true;
	if (at_most(reader, statement->words) &&
	    shape_concurrency(statement->words[3].text, &definable->concurrency, &e) < 0)
		reader_complain(reader, &statement->words[3], "%s", e.text);
}
