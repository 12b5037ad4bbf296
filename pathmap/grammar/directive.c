/* SPDX-License-Identifier: BSD-3-Clause */
/* Directives: const tables of the statements of map files, which check and apply them. */
#include "pathmap/grammar/directive.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* No suggestions for longer words. */
#define NEAREST_LENGTH 32

void reader_complain(struct reader *reader, const struct word *word, const char *format, ...)
{
	struct error e;
	va_list args;

	va_start(args, format);
	vsnprintf(e.text, sizeof(e.text), format, args);
	va_end(args);
	complain(reader->diagnostics, reader->source, word->offset, "%s", e.text);
}

void reader_complain_at(struct reader *reader, const struct word *word, size_t at,
			const char *format, ...)
{
	struct error e;
	va_list args;

	va_start(args, format);
	vsnprintf(e.text, sizeof(e.text), format, args);
	va_end(args);
	complain(reader->diagnostics, reader->source, word->offset + word->quoted + at, "%s",
		 e.text);
}

/* Edit distance (insert, delete, replace, swap two) from @a to @b, both of bounded length. */
static size_t word_distance(const char *a, const char *b)
{
	size_t rows[3][NEAREST_LENGTH + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	size_t n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		last[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		size_t *spare = before;

		now[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t best = last[j] + (a[i] != b[j]);

			best = last[j + 1] + 1 < best ? last[j + 1] + 1 : best;
			best = now[j] + 1 < best ? now[j] + 1 : best;
			if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] &&
			    before[j - 1] + 1 < best)
				best = before[j - 1] + 1;
			now[j + 1] = best;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[n];
}

/* Do they differ only in numbers? Then one is hardly a misspelling of the other. */
static bool word_numbered(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	for (;;) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b)
			return false;
		if (*a == '\0')
			return true;
		a++;
		b++;
	}
}

const char *word_nearest(const char *word, const char *const *words, size_t n)
{
	size_t length = strlen(word);
	size_t least = length < 5 ? 2 : 3; /* exclusive: one edit in short words, two in others */
	const char *nearest = NULL;

	if (length > NEAREST_LENGTH)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t distance;

		if (words[i] == NULL || strlen(words[i]) > NEAREST_LENGTH)
			continue;
		distance = word_distance(word, words[i]);
		if (distance < least && distance < length && !word_numbered(word, words[i])) {
			least = distance;
			nearest = words[i];
		}
	}
	return nearest;
}

static void list_append(char *text, size_t size, const char *item)
{
	size_t length = strlen(text);

	if (length < size)
		snprintf(text + length, size - length, "%s`%s`", length > 0 ? ", " : "", item);
}

void reader_complain_unknown(struct reader *reader, const struct word *word, const char *what,
			     const char *const *words, size_t n)
{
	const char *nearest = word_nearest(word->text, words, n);
	char text[512] = "";

	if (nearest != NULL) {
		reader_complain(reader, word, "unknown %s `%.60s`; did you mean `%s`?", what,
				word->text, nearest);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (words[i] != NULL)
			list_append(text, sizeof(text), words[i]);
	}
	reader_complain(reader, word, "unknown %s `%.60s`; there can be %s", what, word->text,
			text);
}

/* Does the row's usage begin with @word? */
static bool directive_is(const struct directive *directive, const char *word)
{
	size_t length = strcspn(directive->usage, " ");

	return strlen(word) == length && strncmp(directive->usage, word, length) == 0;
}

/* The row of @word for the block, else any row of @word, or NULL. */
static const struct directive *directive_find(const struct directive *table, size_t n,
					      const char *word, unsigned context)
{
	const struct directive *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!directive_is(&table[i], word))
			continue;
		if ((table[i].contexts & 1u << context) != 0)
			return &table[i];
		found = &table[i];
	}
	return found;
}

/* The kind of @word by the reader's table; context number 0 is outside all blocks. */
static enum keyword reader_keyword(const void *arg, const char *word)
{
	const struct reader *reader = arg;
	enum keyword keyword = KEYWORD_NONE;

	for (size_t i = 0; i < reader->n_table; i++) {
		if (!directive_is(&reader->table[i], word))
			continue;
		if (reader->table[i].contexts != 1u << 0)
			return KEYWORD_INNER;
		keyword = KEYWORD_OUTER;
	}
	return keyword;
}

/* Report an unknown keyword, or one that is not allowed in this block. */
static void directive_unknown(struct reader *reader, unsigned context, const struct word *word)
{
	char keywords[DIRECTIVES_MAX][NEAREST_LENGTH];
	const char *words[DIRECTIVES_MAX] = {NULL};
	char text[512] = "";
	unsigned known = 0;

	for (size_t i = 0; i < reader->n_table && !word->quoted; i++) {
		if (directive_is(&reader->table[i], word->text))
			known |= reader->table[i].contexts;
	}
	if (known != 0) {
		for (unsigned i = 0; reader->contexts[i] != NULL; i++) {
			if ((known & 1u << i) != 0)
				list_append(text, sizeof(text), reader->contexts[i]);
		}
		reader_complain(reader, word, "`%s` cannot be in `%s`; it belongs in %s",
				word->text, reader->contexts[context], text);
		return;
	}
	if (reader->unknown != NULL && reader->unknown(reader, context, word))
		return;
	for (size_t i = 0; i < reader->n_table; i++) {
		const char *usage = reader->table[i].usage;

		if ((reader->table[i].contexts & 1u << context) == 0)
			continue;
		snprintf(keywords[i], sizeof(keywords[i]), "%.*s", (int)strcspn(usage, " "), usage);
		words[i] = keywords[i];
	}
	snprintf(text, sizeof(text), "word in `%s`:", reader->contexts[context]);
	reader_complain_unknown(reader, word, text, words, reader->n_table);
}

/* Check the statement by its row. Returns whether it may be applied. */
static bool directive_check(struct reader *reader, const struct directive *directive,
			    const struct statement *statement)
{
	const struct word *keyword = &statement->words[0];
	size_t n = statement->n_words - 1, least = directive->least ? directive->least : 1;
	size_t most = directive->most ? directive->most : least;

	if (directive->most == DIRECTIVE_BARE)
		least = most = 0;
	if (n < least) {
		reader_complain(reader, keyword, "`%s` is not complete; write `%s`", keyword->text,
				directive->usage);
		return false;
	}
	if (n > most) {
		const struct word *extra = &statement->words[1 + most];

		reader_complain(reader, extra, "`%.60s` is one word too many; write `%s`",
				extra->text, directive->usage);
		return false;
	}
	if (directive->body == BODY_NONE && statement->has_body) {
		reader_complain(reader, keyword, "`%s` has no block; write `%s`", keyword->text,
				directive->usage);
		return false;
	}
	if (directive->body == BODY_REQUIRED && !statement->has_body) {
		reader_complain(reader, keyword, "`%s` needs a block; write `%s`", keyword->text,
				directive->usage);
		return false;
	}
	return true;
}

void directives_apply(struct reader *reader, unsigned context, const struct statement *statements,
		      size_t n, void *target)
{
	const struct statement *seen[DIRECTIVES_MAX] = {0};

	/* later faults would not be shown, and a hostile file could make this take long */
	for (size_t i = 0; i < n && reader->diagnostics->total < COMPLAINTS_SHOWN; i++) {
		const struct word *word = &statements[i].words[0];
		const struct directive *found =
			word->quoted ? NULL
				     : directive_find(reader->table, reader->n_table, word->text,
						      context);
		size_t row = found != NULL ? (size_t)(found - reader->table) : 0;

		if (found == NULL || (found->contexts & 1u << context) == 0) {
			directive_unknown(reader, context, word);
		} else if (found->once && seen[row] != NULL) {
			reader_complain(reader, word,
					"a second `%s`; the first is in line %zu, keep one",
					word->text,
					mapfile_line(reader->source, seen[row]->words[0].offset));
		} else {
			seen[row] = &statements[i];
			if (directive_check(reader, found, &statements[i]))
				found->apply(reader, target, &statements[i]);
		}
	}
}

void reader_begin(struct reader *reader, unsigned context, void *target)
{
	const struct keywords keywords = {reader_keyword, reader};

	reader->before = reader->diagnostics->total;
	reader->n_statements = statements_read(reader->source, &keywords, reader->diagnostics,
					       &reader->statements);
	directives_apply(reader, context, reader->statements, reader->n_statements, target);
}

bool reader_is_clean(const struct reader *reader)
{
	return reader->diagnostics->total == reader->before;
}

void reader_end(struct reader *reader)
{
	statements_free(reader->statements, reader->n_statements);
}
