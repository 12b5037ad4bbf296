/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a map file into words, strings, `;`, `{` and `}`. */
#ifndef EVSPACE_LEXER_H
#define EVSPACE_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/grammar/diagnostic.h"

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

#endif
