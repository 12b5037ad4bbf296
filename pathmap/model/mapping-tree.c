/* SPDX-License-Identifier: BSD-3-Clause */
/* `tree`, `cluster on`: the shape of gather trees; `stages`, `concurrency`, `alternate`: how they
 * are run. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/mapping-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Add one node to the tree drawn by hand. */
static void node_draw(struct reader *reader, struct tree *tree, const struct word *word,
		      const struct node *node, const struct node *parent)
{
	struct drawn *drawn = &tree->drawn[node->index];

	if (drawn->there)
		reader_complain(
			reader, word,
			"`%s` is in the tree already (line %zu); a node has one place in it",
			node->name, mapfile_line(reader->source, drawn->offset));
	else
		*drawn = (struct drawn){true, parent, word->offset};
}

static void nodes_draw(struct reader *reader, struct tree *tree, const struct node *parent,
		       const struct statement *statements, size_t n)
{
	for (size_t i = 0; i < n && reader->diagnostics->total < COMPLAINTS_SHOWN; i++) {
		const struct statement *statement = &statements[i];
		const struct word *words = statement->words;
		const struct node **nodes = NULL;
		size_t n_nodes = 0;

		if (!mapped_nodes(reader, words, words + statement->n_words, &nodes, &n_nodes))
			n_nodes = 0;
		for (size_t j = 0; j < n_nodes; j++)
			node_draw(reader, tree, words, nodes[j], parent);
		if (statement->has_body && n_nodes > 1)
			reader_complain(reader, words,
					"a block below %zu nodes; write one node before its `{`",
					n_nodes);
		else if (statement->has_body && n_nodes == 1)
			nodes_draw(reader, tree, nodes[0], statement->body, statement->n_body);
		free(nodes);
	}
}

static void hand_read(struct reader *reader, struct tree *tree, const struct statement *statement)
{
	const struct mapping_reading *reading = reader->map;

	if (statement->n_words != 2 || !statement->has_body) {
		reader_complain(reader, &statement->words[1],
				"draw the tree: `tree by-hand { gw4w { w[0-7]; } e[0-3]; }`");
		return;
	}
	tree->kind = TREE_BY_HAND;
	tree->drawn = memory_new(reading->clusters->n_nodes, sizeof(*tree->drawn));
	nodes_draw(reader, tree, NULL, statement->body, statement->n_body);
}

static void flat_read(struct reader *reader, struct tree *tree, const struct statement *statement)
{
	const struct word *words = statement->words;

	tree->kind = TREE_FLAT;
	if (statement->n_words == 2)
		return;
	tree->ignoring_gateways = true;
	if (statement->n_words != 4 || strcmp(words[2].text, "ignoring") != 0 ||
	    strcmp(words[3].text, "gateways") != 0)
		reader_complain(reader, &words[2],
				"`%.60s` cannot follow `flat`; write `tree flat;` or, for a bench, "
				"`tree flat ignoring gateways;`",
				words[2].text);
}

static void fanout_read(struct reader *reader, struct tree *tree, const struct statement *statement)
{
	struct error e;

	tree->kind = TREE_FANOUT;
	tree->fanout = 2;
	if (statement->n_words != 3)
		reader_complain(
			reader, &statement->words[1],
			"`fanout` takes the most children of a node; write `tree fanout 8;`");
	else if (quantity_count(statement->words[2].text, 2, FANOUT_MAX, &tree->fanout, &e) < 0)
		reader_complain(reader, &statement->words[2], "%s, as a fan-out has to be", e.text);
}

void tree_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *kind = &statement->words[1];
	struct tree *tree = target;
	size_t i = 0;

	tree->said = true;
	tree->offset = statement->words[0].offset;
	while (i < TREE_KINDS && strcmp(tree_kinds[i], kind->text) != 0)
		i++;
	if (i == TREE_KINDS)
		reader_complain_unknown(reader, kind, "tree", tree_kinds, TREE_KINDS);
	else if (i == TREE_BY_HAND)
		hand_read(reader, tree, statement);
	else if (statement->has_body)
		reader_complain(reader, kind,
				"only `tree by-hand { ... }` has a block, of nodes below nodes");
	else if (i == TREE_FLAT)
		flat_read(reader, tree, statement);
	else if (i == TREE_FANOUT)
		fanout_read(reader, tree, statement);
	else if (statement->n_words > 2)
		reader_complain(reader, kind + 1,
				"`%.60s` is one word too many; write `tree by-cluster;`",
				kind[1].text);
}

void head_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *words = statement->words;
	struct tree *tree = target;
	const struct node *node;

	if (strcmp(words[1].text, "on") != 0) {
		reader_complain(reader, &words[1],
				"`%.60s` instead of `on`; write `cluster on NODE;`", words[1].text);
		return;
	}
	node = mapped_node(reader, &words[2], words[2].text);
	if (node == NULL)
		return;
	if (node->cluster == NULL) {
		reader_complain(
			reader, &words[2],
			"`%s` is in no cluster; name the node of a cluster that is to join it",
			node->name);
		return;
	}
	for (size_t i = 0; i < tree->n_heads; i++) {
		if (tree->heads[i]->cluster != node->cluster)
			continue;
		reader_complain(reader, &words[2],
				"cluster `%s` is joined on `%s` already; name one node for it",
				node->cluster->name, tree->heads[i]->name);
		return;
	}
	tree->heads = memory_room(tree->heads, tree->n_heads, sizeof(*tree->heads));
	tree->heads[tree->n_heads++] = node;
}

/* Find the word @between in the statement; NULL if it is missing, or has no words before or
 * after it. */
static const struct word *word_between(const struct statement *statement, const char *between)
{
	for (size_t i = 2; i + 1 < statement->n_words; i++) {
		if (strcmp(statement->words[i].text, between) == 0)
			return &statement->words[i];
	}
	return NULL;
}

/* ---- stages ---- */

/* The level that @word names, @first or above; LEVEL_COUNT and a diagnostic if there is none. */
static enum level level_read(struct reader *reader, const struct word *word, enum level first)
{
	const char *names[LEVEL_COUNT];
	size_t n = 0;

	for (unsigned l = (unsigned)first; l < LEVEL_COUNT; l++) {
		names[n] = level_name((enum level)l);
		if (strcmp(names[n++], word->text) == 0)
			return (enum level)l;
	}
	reader_complain_unknown(reader, word, "level", names, n);
	return LEVEL_COUNT;
}

void stages_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *at = word_between(statement, "at"), *word;
	struct tree *tree = target;
	enum level place, level;

	if (at == NULL || at + 2 != statement->words + statement->n_words) {
		reader_complain(reader, &statement->words[1],
				"write which levels' stages run where: `stages thread node at "
				"cluster;`");
		return;
	}
	place = level_read(reader, at + 1, LEVEL_NODE);
	for (word = statement->words + 1; word < at && place != LEVEL_COUNT; word++) {
		level = level_read(reader, word, LEVEL_ELEMENT);
		if (level == LEVEL_COUNT)
			return;
		if (level > place) {
			reader_complain(reader, word,
					"stages of level `%s` cannot run at `%s`, where less comes "
					"together; run them at `%s` or above",
					level_name(level), level_name(place), level_name(level));
			return;
		}
		tree->at[level] = (uint8_t)place;
	}
}

/* ---- concurrency ---- */

void concurrency_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct tree *tree = target;
	struct error e;

	tree->concurrency_said = true;
	if (shape_concurrency(word->text, &tree->concurrency, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
}

/* ---- alternates ---- */

static void alternate_add(struct reader *reader, const struct word *word, struct tree *tree,
			  const struct node *by, const struct node *instead_of)
{
	if (by == instead_of) {
		reader_complain(reader, word, "`%s` cannot be its own alternate", by->name);
		return;
	}
	if (*by->address == '\0') {
		reader_complain(reader, word,
				"`%s` has no address, so nobody could connect to it; give it one "
				"in the cluster map",
				by->name);
		return;
	}
	tree->alternates =
		memory_room(tree->alternates, tree->n_alternates, sizeof(*tree->alternates));
	tree->alternates[tree->n_alternates++] = (struct alternate){by, instead_of};
}

void alternate_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct word *words = statement->words, *end = words + statement->n_words;
	const struct word *between = word_between(statement, "for");
	const struct node **by = NULL, **of = NULL;
	size_t n_by = 0, n_of = 0;

	if (between == NULL) {
		reader_complain(reader, &words[1],
				"write which node runs another one's part while that is away: "
				"`alternate w1 for w0;`");
		return;
	}
	if (mapped_nodes(reader, words + 1, between, &by, &n_by) &&
	    mapped_nodes(reader, between + 1, end, &of, &n_of)) {
		for (size_t i = 0; i < n_of; i++) {
			for (size_t j = 0; j < n_by; j++)
				alternate_add(reader, words + 1, target, by[j], of[i]);
		}
	}
	free(by);
	free(of);
}
