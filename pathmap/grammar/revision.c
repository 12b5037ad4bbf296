/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds statements in a map's text by its tokens, and puts others in their place. */
#include "pathmap/grammar/revision.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/grammar/statement.h"
#include "pathmap/base/memory.h"

/* Characters by which a head is known again. */
#define HEAD_BYTES 20

struct revision {
	struct mapfile source;
	struct diagnostics diagnostics;
	struct lexer lexer;
	FILE *out;
	size_t copied; /* of the text so far */
	bool done;     /* the replacement is in it */
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
	/* no empty line where it was, and none where the replacement has an end of its own */
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
