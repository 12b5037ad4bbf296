/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of map files: statements `word ... ;` or `word ... { statements }`, `#` comments. */
#ifndef EVSPACE_STATEMENT_H
#define EVSPACE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/grammar/mapfile.h"

enum token_kind { TOKEN_WORD, TOKEN_STRING, TOKEN_SEMICOLON, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_END };

/** One token; of words and strings @text (not terminated) is in the source, without quotes. */
struct token {
	enum token_kind kind;
	size_t offset;
	const char *text;
	size_t length;
	bool first_in_line;
};

/** Where reading is. Set @source and @diagnostics, zero the rest. */
struct lexer {
	const struct mapfile *source;
	struct diagnostics *diagnostics;
	size_t offset;
};

/**
 * The next token; TOKEN_END at the end, again and again. A string that its line does not close is
 * complained of and ends with the line.
 */
struct token lexer_next(struct lexer *lexer);

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

#endif
