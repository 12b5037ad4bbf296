/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of map files: statements `word ... ;` or `word ... { statements }`, `#` comments. */
#ifndef EVSPACE_STATEMENT_H
#define EVSPACE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/grammar/diagnostic.h"

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

/**
 * Read all statements of @source into *@statements, the caller's to free with statements_free().
 * What is wrong is complained of, and reading goes on behind it. Returns how many.
 */
size_t statements_read(const struct mapfile *source, enum keyword (*keyword)(const char *word),
		       struct diagnostics *diagnostics, struct statement **statements);

/** Free @n statements and what they hold. */
void statements_free(struct statement *statements, size_t n);

#endif
