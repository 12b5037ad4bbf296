/* SPDX-License-Identifier: BSD-3-Clause */
/* The grammar of map files: statements `word ... ;` or `word ... { statements }`, `#` comments. */
#include "pathmap/grammar/statement.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

enum token_kind { TOKEN_WORD, TOKEN_STRING, TOKEN_SEMICOLON, TOKEN_OPEN, TOKEN_CLOSE, TOKEN_END };

/* One token. `text` of words and strings points into the source, without quotes, and is not
 * terminated. */
struct token {
	enum token_kind kind;
	size_t offset;
	const char *text;
	size_t length;
	bool first_in_line;
};

/* The state of reading tokens. Set `source` and `diagnostics`, zero the rest. */
struct lexer {
	const struct mapfile *source;
	struct diagnostics *diagnostics;
	size_t offset;
};

/* The byte order mark that some editors write before UTF-8. */
static const char byte_order_mark[] = "\xef\xbb\xbf";

static bool is_blank(char c)
{
	return c != '\0' && strchr(" \t\r\n\f\v", c) != NULL;
}

static bool ends_word(char c)
{
	return c == '\0' || is_blank(c) || strchr(";{}\"#", c) != NULL;
}

/* Skip blanks and comments. Returns whether a line ended in them. */
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

/* The next token; always TOKEN_END at the end. A string that is not closed on its line becomes a
 * diagnostic and ends with the line. */
static struct token lexer_next(struct lexer *lexer)
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

struct list {
	struct statement *items;
	size_t n;
};

struct parser {
	struct lexer lexer;
	struct token token; /* the current one */
	const struct keywords *keywords;
	bool too_deep; /* reported */
};

static struct list list_read(struct parser *parser, size_t depth);

static void parser_next(struct parser *parser)
{
	parser->token = lexer_next(&parser->lexer);
}

static void statement_fini(struct statement *statement)
{
	for (size_t i = 0; i < statement->n_words; i++)
		free(statement->words[i].text);
	free(statement->words);
	statements_free(statement->body, statement->n_body);
}

/* The kind of the current token, if a statement can begin with it: on a new line, not quoted. */
static enum keyword parser_keyword(const struct parser *parser)
{
	const struct token *token = &parser->token;
	enum keyword keyword;
	char *word;

	if (!parser->keywords || token->kind != TOKEN_WORD || !token->first_in_line)
		return KEYWORD_NONE;
	word = memory_copy_bytes(token->text, token->length);
	keyword = parser->keywords->find(parser->keywords->arg, word);
	free(word);
	return keyword;
}

static void words_read(struct parser *parser, struct statement *statement)
{
	while (parser->token.kind == TOKEN_WORD || parser->token.kind == TOKEN_STRING) {
		const struct token *token = &parser->token;
		struct word word;

		if (statement->n_words > 0 && parser_keyword(parser) != KEYWORD_NONE)
			return;
		word = (struct word){
			.text = memory_copy_bytes(token->text, token->length),
			.offset = token->offset,
			.quoted = token->kind == TOKEN_STRING,
		};

		statement->words = memory_room(statement->words, statement->n_words,
					       sizeof(*statement->words));
		statement->words[statement->n_words++] = word;
		parser_next(parser);
	}
}

/* Read a block, from the current token `{` to its `}`. */
static struct list body_read(struct parser *parser, size_t depth)
{
	size_t open = parser->token.offset;
	struct list list;

	if (depth == STATEMENT_DEPTH && !parser->too_deep) {
		parser->too_deep = true;
		complain(parser->lexer.diagnostics, parser->lexer.source, open,
			 "more than %d blocks in one another; maps need three", STATEMENT_DEPTH);
	}
	if (parser->too_deep) {
		/* the rest cannot be parsed any more */
		while (parser->token.kind != TOKEN_END)
			parser_next(parser);
		return (struct list){0};
	}
	parser_next(parser);
	list = list_read(parser, depth + 1);
	if (parser->token.kind == TOKEN_CLOSE)
		parser_next(parser);
	else if (!parser->too_deep)
		complain(parser->lexer.diagnostics, parser->lexer.source, open,
			 "`{` without its `}`; close the block");
	return list;
}

/* After a statement's words, read its `;` or its body. */
static void statement_end(struct parser *parser, struct statement *statement, size_t depth)
{
	const struct word *last = &statement->words[statement->n_words - 1];

	if (parser->token.kind == TOKEN_SEMICOLON) {
		parser_next(parser);
	} else if (parser->token.kind == TOKEN_OPEN) {
		struct list body = body_read(parser, depth);

		statement->has_body = true;
		statement->body = body.items;
		statement->n_body = body.n;
	} else if (parser->token.kind != TOKEN_END || depth > 0 ||
		   !parser->lexer.source->fragment) {
		complain(parser->lexer.diagnostics, parser->lexer.source, last->offset,
			 "no `;` behind `%.60s`; a statement ends with `;` or has a block in `{ }`",
			 last->text);
	}
}

/* Read statements up to the `}` or the end, which becomes the current token. */
static struct list list_read(struct parser *parser, size_t depth)
{
	struct list list = {0};

	for (;;) {
		struct statement statement = {0};
		struct list body;

		if (depth > 0 && parser_keyword(parser) == KEYWORD_OUTER)
			return list;
		switch (parser->token.kind) {
		case TOKEN_END:
			return list;
		case TOKEN_CLOSE:
			if (depth > 0)
				return list;
			complain(parser->lexer.diagnostics, parser->lexer.source,
				 parser->token.offset, "`}` without its `{`; leave it out");
			parser_next(parser);
			break;
		case TOKEN_SEMICOLON:
			parser_next(parser);
			break;
		case TOKEN_OPEN:
			complain(parser->lexer.diagnostics, parser->lexer.source,
				 parser->token.offset,
				 "a block without a keyword; write the keyword before `{`");
			body = body_read(parser, depth);
			statements_free(body.items, body.n);
			break;
		default:
			words_read(parser, &statement);
			statement_end(parser, &statement, depth);
			list.items = memory_room(list.items, list.n, sizeof(*list.items));
			list.items[list.n++] = statement;
		}
	}
}

size_t statements_read(const struct mapfile *source, const struct keywords *keywords,
		       struct diagnostics *diagnostics, struct statement **statements)
{
	struct parser parser = {
		.lexer = {.source = source, .diagnostics = diagnostics},
		.keywords = keywords,
	};
	struct list list;

	parser_next(&parser);
	list = list_read(&parser, 0);
	*statements = list.items;
	return list.n;
}

void statements_free(struct statement *statements, size_t n)
{
	for (size_t i = 0; i < n; i++)
		statement_fini(&statements[i]);
	free(statements);
}

/* ---- revisions ---- */

/* Characters by which an earlier head is recognized. */
#define HEAD_BYTES 20

struct revision {
	struct mapfile source;
	struct diagnostics diagnostics;
	struct lexer lexer;
	FILE *out;
	size_t copied; /* bytes of the text so far */
	bool done;     /* the replacement is written */
};

static void copy_to(struct revision *r, size_t offset)
{
	fwrite(r->source.text + r->copied, 1, offset - r->copied, r->out);
	r->copied = offset;
}

/* Leave out the statement that begins at @first, up to its `;`. */
static void statement_drop(struct revision *r, const struct token *first, const char *by)
{
	struct token token;

	copy_to(r, first->offset);
	do
		token = lexer_next(&r->lexer);
	while (token.kind != TOKEN_SEMICOLON && token.kind != TOKEN_END);
	r->copied = token.kind == TOKEN_END ? r->source.length : token.offset + 1;
	if (!r->done)
		fputs(by, r->out);
	/* leave no empty line, and no second newline if the replacement ends with one */
	if ((r->done || (*by && by[strlen(by) - 1] == '\n')) && r->source.text[r->copied] == '\n')
		r->copied++;
	r->done = true;
}

static void statements_walk(struct revision *r, unsigned depth, const char *keyword, const char *by)
{
	bool begins = true; /* a statement */
	unsigned at = 0;

	for (;;) {
		struct token token = lexer_next(&r->lexer);

		if (token.kind == TOKEN_END)
			return;
		if (token.kind == TOKEN_WORD && begins && at == depth &&
		    token.length == strlen(keyword) &&
		    strncmp(token.text, keyword, token.length) == 0) {
			statement_drop(r, &token, by);
			continue;
		}
		at += token.kind == TOKEN_OPEN;
		at -= token.kind == TOKEN_CLOSE && at > 0;
		begins = token.kind != TOKEN_WORD && token.kind != TOKEN_STRING;
	}
}

char *revision_replace(const char *text, unsigned depth, const char *keyword, const char *by)
{
	struct revision r = {.copied = 0};
	char *result = NULL;
	size_t size;

	mapfile_set(&r.source, "text", text, strlen(text), &r.diagnostics);
	r.lexer = (struct lexer){.source = &r.source, .diagnostics = &r.diagnostics};
	r.out = open_memstream(&result, &size);
	if (!r.out)
		abort();
	if (r.source.usable) {
		statements_walk(&r, depth, keyword, by);
		copy_to(&r, r.source.length);
	}
	if (!r.done && depth == 0)
		fputs(by, r.out);
	fclose(r.out);
	diagnostics_fini(&r.diagnostics);
	mapfile_fini(&r.source);
	return result;
}

char *revision_head(const char *text, const char *head)
{
	const char *end = NULL;

	if (strlen(head) >= HEAD_BYTES && strncmp(text, head, HEAD_BYTES) == 0)
		end = strstr(text, "\n\n");
	return memory_format("%s%s", head, end ? end + 2 : text);
}
