/* SPDX-License-Identifier: BSD-3-Clause */
/* Pathmaps from texts in memory, and removing addresses of hosts from texts. */
#include "pathmap/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"
#include "pathmap/grammar/statement.h"

static const char *const names[SOURCE_COUNT] = {
	[SOURCE_APPLICATION] = "application.map",
	[SOURCE_CLUSTER] = "cluster.map",
	[SOURCE_MAPPING] = "mapping.map",
};

int texts_read(struct pathmap_texts *texts, const char *dir, struct error *e)
{
	struct mapfile sources[SOURCE_COUNT];
	struct diagnostics diagnostics = {0};
	int result = 0;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_read(&sources[i], dir, names[i], &diagnostics);
	if (diagnostics.total > 0)
		result = diagnostics_error(&diagnostics, e);
	else
		texts_set(texts, sources[SOURCE_APPLICATION].text, sources[SOURCE_CLUSTER].text,
			  sources[SOURCE_MAPPING].text);
	diagnostics_fini(&diagnostics);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_fini(&sources[i]);
	return result;
}

void texts_local(struct pathmap_texts *texts, const char *node)
{
	texts->application = memory_copy("application local {\n\tranks any;\n}\n");
	texts->cluster = memory_format("cluster local {\n\tnodes \"%s\";\n}\n", node);
	texts->mapping = memory_format("entry \"%s\";\nplace all on \"%s\";\n", node, node);
}

void texts_set(struct pathmap_texts *texts, const char *application, const char *cluster,
	       const char *mapping)
{
	texts->application = memory_copy(application);
	texts->cluster = memory_copy(cluster);
	texts->mapping = memory_copy(mapping);
}

void texts_fini(struct pathmap_texts *texts)
{
	free(texts->application);
	free(texts->cluster);
	free(texts->mapping);
	*texts = (struct pathmap_texts){0};
}

bool texts_equal(const struct pathmap_texts *a, const struct pathmap_texts *b)
{
	return a->application && b->application && strcmp(a->application, b->application) == 0 &&
	       strcmp(a->cluster, b->cluster) == 0 && strcmp(a->mapping, b->mapping) == 0;
}

struct pathmap *texts_parse(const struct pathmap_texts *texts, pathmap_stage_check *check,
			    struct error *e)
{
	const char *const all[SOURCE_COUNT] = {
		[SOURCE_APPLICATION] = texts->application,
		[SOURCE_CLUSTER] = texts->cluster,
		[SOURCE_MAPPING] = texts->mapping,
	};
	struct mapfile sources[SOURCE_COUNT];
	struct diagnostics diagnostics = {0};
	struct pathmap *map;

	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_set(&sources[i], names[i], all[i], strlen(all[i]), &diagnostics);
	map = pathmap_make(sources, check, &diagnostics);
	if (map == NULL)
		diagnostics_error(&diagnostics, e);
	diagnostics_fini(&diagnostics);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		mapfile_fini(&sources[i]);
	return map;
}

/* ---- without addresses ---- */

static void word_write(FILE *out, const struct word *word, const char *behind)
{
	const char *quote = word->quoted ? "\"" : "";

	fprintf(out, " %s%s%s%s", quote, word->text, behind, quote);
}

/* Nodes that are dialled need an address: use their names with an unused port. */
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

static void statements_write(FILE *out, const struct statement *statements, size_t n, bool hosts);

static void statement_write(FILE *out, const struct statement *s, bool hosts)
{
	const char *keyword = s->words[0].text;
	bool node = hosts && strcmp(keyword, "node") == 0 && s->n_words == 2;
	bool nodes = hosts && strcmp(keyword, "nodes") == 0;

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
	statements_write(out, s->body, s->n_body, hosts);
	if (node || s->has_body)
		fputs("}\n", out);
	for (size_t i = 1; nodes && i < s->n_words; i++)
		address_write(out, &s->words[i]);
}

/* Only the map of the @hosts says where they are; elsewhere its keywords are stages and names. */
static void statements_write(FILE *out, const struct statement *statements, size_t n, bool hosts)
{
	for (size_t i = 0; i < n; i++) {
		if (!hosts || !is_hidden(&statements[i]))
			statement_write(out, &statements[i], hosts);
	}
}

static void text_hide(char **text, bool hosts)
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
	/* the texts are valid, so no keywords are needed */
	n = statements_read(&source, NULL, &diagnostics, &statements);
	statements_write(out, statements, n, hosts);
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
	text_hide(&texts->application, false);
	text_hide(&texts->cluster, true);
	text_hide(&texts->mapping, false);
}
