/* SPDX-License-Identifier: BSD-3-Clause */
/* `tree` and `cluster on`: the shape of gather trees. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/mapping-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* Put one node into the tree that is drawn. */
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
	static const char *const kinds[] = {
		[TREE_BY_CLUSTER] = "by-cluster",
		[TREE_FLAT] = "flat",
		[TREE_FANOUT] = "fanout",
		[TREE_BY_HAND] = "by-hand",
	};
	const size_t n_kinds = sizeof(kinds) / sizeof(kinds[0]);
	const struct word *kind = &statement->words[1];
	struct tree *tree = target;
	size_t i = 0;

	tree->said = true;
	tree->offset = statement->words[0].offset;
	while (i < n_kinds && strcmp(kinds[i], kind->text) != 0)
		i++;
	if (i == n_kinds)
		reader_complain_unknown(reader, kind, "tree", kinds, n_kinds);
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
