/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks which ranks and threads are collected, and what elements are like by name. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/application-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/model/pattern.h"

/* Most threads of a rank that a map can name. */
#define THREADS_MAX 4096u

/* Does @word begin with @prefix and a number? */
static bool is_numbered(const char *word, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(word, prefix, n) == 0 && word[n] != '\0' &&
	       strchr("0123456789[", word[n]) != NULL;
}

static void ranks_only(struct reader *reader, struct application *application,
		       const struct word *word)
{
	struct rank_list list = {0};
	struct error e;
	size_t at;

	application->only_offset = word->offset;
	if (rank_list_add(&list, word->text, &at, &e) < 0)
		reader_complain_at(reader, word, at, "%s", e.text);
	for (size_t i = 0; i < list.n; i++)
		interval_set_add(&application->only_ranks, list.ranks[i], list.ranks[i] + 1);
	free(list.ranks);
}

/* Adds those of "t0" or "t[0-3]" to @threads. */
static void threads_only(struct reader *reader, struct interval_set *threads,
			 const struct word *word)
{
	const char *at = word->text + strlen("t");
	struct range range = {0, 0, 0};
	struct interval one;
	struct error e;
	int more = *at == '[';

	if (!more && (!interval_next(&at, &one) || *at != '\0' || one.to > THREADS_MAX)) {
		reader_complain(reader, word, "`%.60s` is no thread; write `t0` or `t[0-3]`",
				word->text);
		return;
	}
	if (!more)
		interval_set_add(threads, one.from, one.to);
	at += more;
	while (more == 1) {
		more = range_next(&at, &range, &e);
		if (more < 0)
			reader_complain_at(reader, word, (size_t)(at - word->text), "%s", e.text);
		else
			interval_set_add(threads, range.first, (uint64_t)range.last + 1);
	}
	if (more == 0 && *at != '\0' && word->text[1] == '[')
		reader_complain_at(reader, word, (size_t)(at - word->text),
				   "something behind the threads; write `t[0-3]`");
}

/* Of the threads there is one number for all ranks. */
static bool threads_differ(const struct application *application, uint64_t threads, bool ranks)
{
	return application->only_threads != threads &&
	       ((ranks && application->only_said) || (threads && application->only_threads));
}

bool only_apply(struct reader *reader, struct application *application,
		const struct statement *statement)
{
	const struct word *first = &statement->words[1];
	struct interval_set threads = {0};
	size_t before = reader->diagnostics->total;
	bool ranks = false;

	if (!is_numbered(first->text, "rank") && !is_numbered(first->text, "t"))
		return false;
	if (statement->has_body)
		reader_complain(reader, first,
				"ranks and threads have no block; write `elements "
				"/**/%.60s/** { ... }` for what their elements are like",
				first->text);
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];

		ranks |= is_numbered(word->text, "rank");
		if (is_numbered(word->text, "rank"))
			ranks_only(reader, application, word);
		else if (is_numbered(word->text, "t"))
			threads_only(reader, &threads, word);
		else
			reader_complain(reader, word,
					"`%.60s` beside ranks or threads; write a `collect` of its "
					"own for channels",
					word->text);
	}
	if (threads.n > 0 && reader->diagnostics->total == before &&
	    (threads.n > 1 || threads.items[0].from != 0 || threads.items[0].to > THREADS_MAX))
		reader_complain(reader, first,
				"threads without t0, with holes, or beyond t%u; threads are "
				"numbered by their first call, so write `t0` or `t[0-3]`",
				THREADS_MAX - 1);
	else if (threads_differ(application, threads.n ? threads.items[0].to : 0, ranks))
		reader_complain(
			reader, first,
			"other threads than a `collect` before says; all ranks have the same "
			"ones: write `t0` or `t[0-3]` in each, or in none");
	else if (threads.n > 0)
		application->only_threads = (unsigned)threads.items[0].to;
	application->only_said |= ranks;
	interval_set_fini(&threads);
	return true;
}

/* ---- elements ---- */

/* Does the pattern name threads? */
static bool names_threads(const char *pattern)
{
	for (const char *part = strchr(pattern, '/'); part != NULL; part = strchr(part + 1, '/')) {
		if (is_numbered(part + 1, "t"))
			return true;
	}
	return false;
}

/* Is it a pattern of elements, for which what is said can be? If not, say so. */
static bool pattern_fits(struct reader *reader, const struct word *word,
			 const struct recording *says)
{
	struct error e;
	size_t at;

	if (pattern_check_at(word->text, &at, &e) < 0 ||
	    recording_pattern_check(word->text, &at, &e) < 0) {
		reader_complain_at(reader, word, at, "%s", e.text);
		return false;
	}
	at = (size_t)(strrchr(word->text, '/') - word->text);
	at += strcspn(word->text + at, "@:.");
	if (word->text[at] != '\0') {
		reader_complain_at(reader, word, at,
				   "`%.60s` behind the channel; what is said here holds for all "
				   "elements of a thread and channel: leave it out",
				   word->text + at);
		return false;
	}
	if (says->mode == NULL || !names_threads(word->text))
		return true;
	reader_complain(reader, word,
			"`mode` of some threads; a mode is of all threads of a rank: leave the "
			"thread out, or `mode`");
	return false;
}

void elements_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct application *application = target;
	struct recording says = {.collected = true};
	size_t before = reader->diagnostics->total;

	directives_apply(reader, IN_ELEMENTS, statement->body, statement->n_body, &says);
	if (statement->n_body == 0 && reader->diagnostics->total == before)
		reader_complain(reader, &statement->words[0],
				"nothing is said of these elements; write `capacity TUPLES;`, "
				"`lifetime TIME;`, `mode MODE;` or `remote NODE;` into the block");
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];

		if (!pattern_fits(reader, word, &says))
			continue;
		if (application->n_rules == ELEMENT_RULES_MAX) {
			reader_complain(reader, word,
					"more than %u patterns of elements; use `*` or `[0-7]` for "
					"several names at once",
					ELEMENT_RULES_MAX);
			return;
		}
		application->rules = memory_room(application->rules, application->n_rules,
						 sizeof(*application->rules));
		application->rules[application->n_rules++] = (struct element_rule){
			.pattern = memory_copy(word->text),
			.says = says,
			.offset = word->offset,
		};
	}
}
