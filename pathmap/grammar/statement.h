/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of map files: statements `word ... ;` or `word ... { statements }`, `#` comments; and
 * revisions, the text of a map file with some statements replaced, all else as it was. */
#ifndef EVSPACE_STATEMENT_H
#define EVSPACE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/grammar/mapfile.h"

/** Deepest nesting of blocks. */
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

/** The kind of a word at the start of a statement, which shows where a `;` or a `}` is missing. */
enum keyword {
	KEYWORD_NONE,
	KEYWORD_INNER, /* allowed in a block */
	KEYWORD_OUTER, /* allowed only outside all blocks */
};

/** Recognizes keywords. */
struct keywords {
	enum keyword (*find)(const void *arg, const char *word);
	const void *arg;
};

/**
 * Read all statements of @source into *@statements, for the caller to free by statements_free().
 * Faults become diagnostics, and reading continues after them. Without @keywords (NULL) missing
 * ends of statements are not guessed. Returns the number of statements.
 */
size_t statements_read(const struct mapfile *source, const struct keywords *keywords,
		       struct diagnostics *diagnostics, struct statement **statements);

/** Free @n statements and what they hold. */
void statements_free(struct statement *statements, size_t n);

/**
 * A copy of @text, which must be valid, in which the first statement `KEYWORD ...;` inside @depth
 * blocks is replaced by @by, and others are removed. If there is none, @by is appended (@depth 0)
 * or dropped. The caller must free() it.
 */
char *revision_replace(const char *text, unsigned depth, const char *keyword, const char *by);

/**
 * A copy of @text with @head before it. Replaces an earlier head: a block of comments that begins
 * with the same 20 characters and ends with an empty line, as @head must. The caller must free()
 * it.
 */
char *revision_head(const char *text, const char *head);

#endif
