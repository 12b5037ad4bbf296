/* SPDX-License-Identifier: BSD-3-Clause */
/* `stages`, `concurrency` and `alternate`: how gather trees are run. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/mapping-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Children that can be asked at once. */
#define CONCURRENCY_MAX FANOUT_MAX

/* Find the word @between within @words; NULL when it is not there, or has nothing on a side. */
static const struct word *word_between(const struct statement *statement, const char *between)
{
	for (size_t i = 2; i + 1 < statement->n_words; i++) {
		if (strcmp(statement->words[i].text, between) == 0)
			return &statement->words[i];
	}
	return NULL;
}

/* ---- stages ---- */

/* The level that @word names, from those from @first on; LEVEL_COUNT and a diagnostic if none. */
static enum level level_read(struct reader *reader, const struct word *word, enum level first)
{
	const char *names[LEVEL_COUNT];
	size_t n = 0;

	for (unsigned l = (unsigned)first; l < LEVEL_COUNT; l++) {
		names[n] = level_name((enum level)l);
		if (strcmp(names[n++], word->text) == 0)
			return (enum level)l;
	}
	reader_complain_unknown(reader, word, "level", names, n);
	return LEVEL_COUNT;
}

void stages_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *at = word_between(statement, "at"), *word;
	struct tree *tree = target;
	enum level place, level;

	if (at == NULL || at + 2 != statement->words + statement->n_words) {
		reader_complain(reader, &statement->words[1],
				"write which levels' stages run where: `stages thread node at "
				"cluster;`");
		return;
	}
	place = level_read(reader, at + 1, LEVEL_NODE);
	for (word = statement->words + 1; word < at && place != LEVEL_COUNT; word++) {
		level = level_read(reader, word, LEVEL_ELEMENT);
		if (level == LEVEL_COUNT)
			return;
		if (level > place) {
			reader_complain(reader, word,
					"stages of level `%s` cannot run at `%s`, where less comes "
					"together; run them at `%s` or above",
					level_name(level), level_name(place), level_name(level));
			return;
		}
		tree->at[level] = (uint8_t)place;
	}
}

/* ---- concurrency ---- */

void concurrency_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct tree *tree = target;
	struct error e;

	tree->concurrency_said = true;
	if (strcmp(word->text, "all") == 0)
		tree->concurrency = 0;
	else if (strcmp(word->text, "sequential") == 0)
		tree->concurrency = 1;
	else if (quantity_count(word->text, 1, CONCURRENCY_MAX, &tree->concurrency, &e) < 0)
		reader_complain(reader, word,
				"%s, as a concurrency has to be; or write `sequential` or `all`",
				e.text);
}

/* ---- alternates ---- */

static void alternate_add(struct reader *reader, const struct word *word, struct tree *tree,
			  const struct node *by, const struct node *instead_of)
{
	if (by == instead_of) {
		reader_complain(reader, word, "`%s` cannot be its own alternate", by->name);
		return;
	}
	if (*by->address == '\0') {
		reader_complain(reader, word,
				"`%s` has no address, so nobody could connect to it; give it one "
				"in the cluster map",
				by->name);
		return;
	}
	tree->alternates =
		memory_room(tree->alternates, tree->n_alternates, sizeof(*tree->alternates));
	tree->alternates[tree->n_alternates++] = (struct alternate){by, instead_of};
}

void alternate_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *words = statement->words, *end = words + statement->n_words;
	const struct word *between = word_between(statement, "for");
	const struct node **by = NULL, **of = NULL;
	size_t n_by = 0, n_of = 0;

	if (between == NULL) {
		reader_complain(reader, &words[1],
				"write which node runs another one's part while that is away: "
				"`alternate w1 for w0;`");
		return;
	}
	if (mapped_nodes(reader, words + 1, between, &by, &n_by) &&
	    mapped_nodes(reader, between + 1, end, &of, &n_of)) {
		for (size_t i = 0; i < n_of; i++) {
			for (size_t j = 0; j < n_by; j++)
				alternate_add(reader, words + 1, target, by[j], of[i]);
		}
	}
	free(by);
	free(of);
}
