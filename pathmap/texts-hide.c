/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the texts of a pathmap anew without what says where hosts are and how they are reached. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/grammar/statement.h"
#include "pathmap/texts.h"

static void word_write(FILE *out, const struct word *word, const char *behind)
{
	const char *quote = word->quoted ? "\"" : "";

	fprintf(out, " %s%s%s%s", quote, word->text, behind, quote);
}

/* Nodes that have to be dialled need an address: their names, with a port that nobody listens on.
 */
static void address_write(FILE *out, const struct word *nodes)
{
	fputs("\taddress", out);
	word_write(out, nodes, "");
	word_write(out, nodes, ":1");
	fputs(";\n", out);
}

static bool is_hidden(const struct statement *s)
{
	return strcmp(s->words[0].text, "address") == 0 || strcmp(s->words[0].text, "deploy") == 0;
}

static void statements_write(FILE *out, const struct statement *statements, size_t n);

static void statement_write(FILE *out, const struct statement *s)
{
	const char *keyword = s->words[0].text;
	bool node = strcmp(keyword, "node") == 0 && s->n_words == 2;

	word_write(out, &s->words[0], "");
	for (size_t i = 1; i < s->n_words; i++)
		word_write(out, &s->words[i], "");
	if (node) {
		fputs(" {\n\taddress", out);
		word_write(out, &s->words[1], ":1");
		fputs(";\n", out);
	} else {
		fputs(s->has_body ? " {\n" : ";\n", out);
	}
	statements_write(out, s->body, s->n_body);
	if (node || s->has_body)
		fputs("}\n", out);
	for (size_t i = 1; strcmp(keyword, "nodes") == 0 && i < s->n_words; i++)
		address_write(out, &s->words[i]);
}

static void statements_write(FILE *out, const struct statement *statements, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_hidden(&statements[i]))
			statement_write(out, &statements[i]);
	}
}

static void text_hide(char **text)
{
	struct diagnostics diagnostics = {0};
	struct statement *statements;
	struct mapfile source;
	char *hidden;
	size_t n, bytes;
	FILE *out = open_memstream(&hidden, &bytes);

	if (!out)
		abort();
	mapfile_set(&source, "", *text, strlen(*text), &diagnostics);
	/* The texts are right: nothing is to be guessed. */
	n = statements_read(&source, NULL, &diagnostics, &statements);
	statements_write(out, statements, n);
	statements_free(statements, n);
	mapfile_fini(&source);
	diagnostics_fini(&diagnostics);
	if (fclose(out) == EOF)
		abort();
	free(*text);
	*text = hidden;
}

void texts_hide(struct pathmap_texts *texts)
{
	text_hide(&texts->application);
	text_hide(&texts->cluster);
	text_hide(&texts->mapping);
}
