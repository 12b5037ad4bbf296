/* SPDX-License-Identifier: BSD-3-Clause */
/* Cuts a map file into words, strings, `;`, `{` and `}`. */
#include "pathmap/grammar/lexer.h"

#include <string.h>

/* The byte order mark that some editors put in front of UTF-8. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

static bool is_blank(char c)
{
	return c != '\0' && strchr(" \t\r\n\f\v", c) != NULL;
}

static bool ends_word(char c)
{
	return c == '\0' || is_blank(c) || strchr(";{}\"#", c) != NULL;
}

/* Move over blanks and comments. Returns whether a line ended in them. */
static bool lexer_skip(struct lexer *lexer)
{
	const char *text = lexer->source->text;
	bool new_line = lexer->offset == 0;

	if (lexer->offset == 0 && strncmp(text, byte_order_mark, 3) == 0)
		lexer->offset = 3;
	for (;;) {
		if (text[lexer->offset] == '#') {
			lexer->offset += strcspn(text + lexer->offset, "\n");
		} else if (is_blank(text[lexer->offset])) {
			new_line = new_line || text[lexer->offset] == '\n';
			lexer->offset++;
		} else {
			return new_line;
		}
	}
}

static void lexer_string(struct lexer *lexer, struct token *token)
{
	const char *text = lexer->source->text;

	token->kind = TOKEN_STRING;
	token->text = text + lexer->offset + 1;
	token->length = strcspn(token->text, "\"\n");
	lexer->offset += 1 + token->length;
	if (text[lexer->offset] == '"')
		lexer->offset++;
	else
		complain(lexer->diagnostics, lexer->source, token->offset,
			 "a string without its end; close it with `\"` on the same line");
}

struct token lexer_next(struct lexer *lexer)
{
	const char *text = lexer->source->text;
	struct token token = {.first_in_line = lexer_skip(lexer)};

	token.offset = lexer->offset;
	token.text = text + lexer->offset;
	switch (*token.text) {
	case '\0':
		token.kind = TOKEN_END;
		return token;
	case '"':
		lexer_string(lexer, &token);
		return token;
	case ';':
		token.kind = TOKEN_SEMICOLON;
		break;
	case '{':
		token.kind = TOKEN_OPEN;
		break;
	case '}':
		token.kind = TOKEN_CLOSE;
		break;
	default:
		token.kind = TOKEN_WORD;
		while (!ends_word(token.text[token.length]))
			token.length++;
		lexer->offset += token.length;
		return token;
	}
	token.length = 1;
	lexer->offset++;
	return token;
}
