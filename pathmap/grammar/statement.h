/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of map files: statements `word ... ;` or `word ... { statements }`, `#` comments; and
 * revisions, the text of a map file with some statements replaced, all else as it was. */
#ifndef EVSPACE_STATEMENT_H
#define EVSPACE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/grammar/mapfile.h"

/** How deep blocks may be in one another. */
#define STATEMENT_DEPTH 16

/** One word, or one quoted string (which is never a keyword), and where it is. */
struct word {
	char *text;
	size_t offset;
	bool quoted;
};

/** One statement with at least one word. */
struct statement {
	struct word *words;
	size_t n_words;
	bool has_body;
	struct statement *body;
	size_t n_body;
};

/** What a word is at the start of a statement: that shows where a `;` or a `}` was forgotten. */
enum keyword {
	KEYWORD_NONE,
	KEYWORD_INNER, /* can stand in a block */
	KEYWORD_OUTER, /* can stand outside all blocks only */
};

/** What tells keywords from other words. */
struct keywords {
	enum keyword (*find)(const void *arg, const char *word);
	const void *arg;
};

/**
 * Read all statements of @source into *@statements, the caller's to free with statements_free().
 * What is wrong is complained of, and reading goes on behind it. Without @keywords (NULL) nothing
 * is guessed about forgotten ends of statements. Returns how many.
 */
size_t statements_read(const struct mapfile *source, const struct keywords *keywords,
		       struct diagnostics *diagnostics, struct statement **statements);

/** Free @n statements and what they hold. */
void statements_free(struct statement *statements, size_t n);

/**
 * @text, which is right, with its statements `KEYWORD ...;` that stand in @depth blocks replaced:
 * the first by @by, others by nothing; where there is none @by comes at the end (@depth 0) or
 * nowhere. The caller's to free().
 */
char *revision_replace(const char *text, unsigned depth, const char *keyword, const char *by);

/**
 * @text with @head before it, in place of an earlier head: a block of comments that begins with the
 * same 20 characters and ends with an empty line, as @head has to. The caller's to free().
 */
char *revision_head(const char *text, const char *head);

#endif
