/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks mapping.map against the application and the cluster map. */
#include "pathmap/mapping.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/directive.h"
#include "pathmap/hostlist.h"
#include "pathmap/memory.h"
#include "pathmap/quantity.h"
#include "pathmap/rank.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/* Children that one place may have by `fanout`. */
#define FANOUT_MAX 4096u

/* The blocks of a mapping. */
enum context { IN_MAP, IN_VIEW };

static const char *const contexts[] = {[IN_MAP] = "mapping.map", [IN_VIEW] = "view", NULL};

struct reading_map {
	struct mapping *mapping;
	const struct application *application;
	const struct cluster_map *clusters;
};

/* The node with this name; complains when there is none, unless that may be no fault of this map.
 */
static const struct node *node_named(struct reader *reader, const struct word *word,
				     const char *name)
{
	const struct reading_map *reading = reader->map;
	const struct node *node = cluster_map_node(reading->clusters, name);
	const char *nearest;

	if (node != NULL || reading->clusters->incomplete)
		return node;
	nearest = cluster_map_nearest(reading->clusters, name);
	if (nearest != NULL)
		reader_complain(reader, word,
				"no node `%.60s` in the cluster map; did you mean `%s`?", name,
				nearest);
	else
		reader_complain(reader, word, "no node `%.60s` in the cluster map; add it there",
				name);
	return NULL;
}

/* The nodes that words @from to before @to stand for. Returns whether all are right. */
static bool nodes_named(struct reader *reader, const struct word *from, const struct word *to,
			const struct node ***nodes, size_t *n)
{
	bool right = true;

	for (const struct word *word = from; word < to && right; word++) {
		struct hostlist names = {0};
		struct error e;
		size_t at;

		if (hostlist_add(&names, word->text, &at, &e) < 0) {
			reader_complain_at(reader, word, at, "%s", e.text);
			right = false;
		}
		for (size_t i = 0; i < names.n && right; i++) {
			const struct node *node = node_named(reader, word, names.names[i]);

			right = node != NULL;
			*nodes = memory_room(*nodes, *n, sizeof(**nodes));
			(*nodes)[(*n)++] = node;
		}
		hostlist_fini(&names);
	}
	return right;
}

/* How ranks are dealt out to nodes. */
struct deal {
	const struct word *first_node;
	const struct word *end_node;
	unsigned by; /* so many consecutive ranks to each node, 0: not said */
	bool cyclic;
};

/* Cut `place RANKS on NODES [by N | cyclic]` into its parts. */
static bool deal_read(struct reader *reader, const struct statement *statement, struct deal *deal)
{
	const struct word *end = statement->words + statement->n_words;
	const struct word *word = statement->words + 1;
	struct error e;

	while (word < end && (word->quoted || strcmp(word->text, "on") != 0))
		word++;
	if (word == end || word == statement->words + 1 || word + 1 == end) {
		reader_complain(
			reader, statement->words,
			"ranks `on` nodes are expected; write `place rank[0-7] on w[0-7];`");
		return false;
	}
	*deal = (struct deal){.first_node = word + 1, .end_node = end};
	for (word++; word < end; word++) {
		if (!word->quoted && strcmp(word->text, "cyclic") == 0 && word + 1 == end) {
			deal->cyclic = true;
			deal->end_node = word;
		} else if (!word->quoted && strcmp(word->text, "by") == 0 && word + 2 >= end) {
			deal->end_node = word;
			if (word + 1 == end) {
				reader_complain(reader, word,
						"`by` lacks its number; write `by 8` for eight "
						"ranks a node");
				return false;
			}
			if (quantity_count(word[1].text, 1, RANKS_MAX, &deal->by, &e) < 0) {
				reader_complain(reader, word + 1, "%s, as ranks a node have to be",
						e.text);
				return false;
			}
			break;
		}
	}
	return true;
}

/* Does the deal come out even? Each node gets something, and each rank has a node. */
static bool deal_check(struct reader *reader, const struct statement *statement,
		       const struct deal *deal, size_t ranks, size_t nodes)
{
	size_t needed;

	if (nodes == 1 && deal->by == 0)
		return true;
	if (ranks < nodes) {
		reader_complain(reader, deal->first_node,
				"%zu nodes for %zu rank%s; leave out nodes without ranks", nodes,
				ranks, ranks == 1 ? "" : "s");
		return false;
	}
	if (deal->by > 0) {
		needed = (ranks + deal->by - 1) / deal->by;
		if (needed == nodes)
			return true;
		reader_complain(
			reader, deal->first_node,
			"%zu ranks by %u need %zu node%s, not %zu; write `by %zu`, or other nodes",
			ranks, deal->by, needed, needed == 1 ? "" : "s", nodes,
			(ranks + nodes - 1) / nodes);
		return false;
	}
	if (ranks == nodes || deal->cyclic)
		return true;
	reader_complain(
		reader, statement->words,
		"%zu ranks on %zu nodes; add `by %zu` (so many consecutive ranks to each) or "
		"`cyclic` (in turn)",
		ranks, nodes, (ranks + nodes - 1) / nodes);
	return false;
}

static bool rank_place(struct reader *reader, const struct word *word, unsigned rank,
		       const struct node *node)
{
	const struct reading_map *reading = reader->map;
	struct mapping *mapping = reading->mapping;

	if (reading->application->ranks > 0 && rank >= reading->application->ranks) {
		reader_complain(reader, word,
				"rank%u is not in the application map, which has rank0 to rank%u",
				rank, reading->application->ranks - 1);
		return false;
	}
	if (mapping->ranks[rank] != NULL) {
		reader_complain(reader, word,
				"rank%u is placed on `%s` already (line %zu); place it once", rank,
				mapping->ranks[rank]->name,
				source_line(reader->source, mapping->rank_offsets[rank]));
		return false;
	}
	mapping->ranks[rank] = node;
	mapping->rank_offsets[rank] = word->offset;
	return true;
}

/* Ranks can only be on nodes that give their elements a name. */
static bool nodes_can_hold(struct reader *reader, const struct word *word,
			   const struct node *const *nodes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (nodes[i]->cluster != NULL)
			continue;
		reader_complain(reader, word,
				"`%s` is outside all clusters, and ranks have names like "
				"/CLUSTER/NODE/rank0; put it into a cluster of the cluster map",
				nodes[i]->name);
		return false;
	}
	return true;
}

static void everywhere_apply(struct reader *reader, const struct deal *deal,
			     const struct node *const *nodes, size_t n)
{
	const struct reading_map *reading = reader->map;

	if (n != 1 || deal->by > 0 || deal->cyclic)
		reader_complain(reader, deal->first_node,
				"`place all` takes one node; name the ranks to deal them out");
	else
		reading->mapping->everywhere = nodes[0];
}

static void place_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct mapping *mapping = target;
	struct rank_list ranks = {0};
	const struct node **nodes = NULL;
	size_t n_nodes = 0, at;
	const struct word *first = statement->words + 1;
	struct deal deal;
	struct error e;

	mapping->places = true;
	if (!deal_read(reader, statement, &deal) ||
	    !nodes_named(reader, deal.first_node, deal.end_node, &nodes, &n_nodes) ||
	    !nodes_can_hold(reader, deal.first_node, nodes, n_nodes))
		goto out;
	if (deal.first_node == first + 2 && strcmp(first->text, "all") == 0) {
		everywhere_apply(reader, &deal, nodes, n_nodes);
		goto out;
	}
	for (const struct word *word = first; word < deal.first_node - 1; word++) {
		if (rank_list_add(&ranks, word->text, &at, &e) < 0) {
			reader_complain_at(reader, word, at, "%s", e.text);
			goto out;
		}
	}
	if (!deal_check(reader, statement, &deal, ranks.n, n_nodes))
		goto out;
	for (size_t i = 0; i < ranks.n; i++) {
		size_t turn = deal.by > 0 ? i / deal.by : i % n_nodes;

		if (!rank_place(reader, first, ranks.ranks[i], nodes[turn]))
			break;
	}
out:
	free(nodes);
	free(ranks.ranks);
}

static void entry_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct mapping *mapping = target;

	mapping->entry = node_named(reader, &statement->words[1], statement->words[1].text);
}

/* Add the nodes that statements in a drawn tree name, below @parent. */
static void drawn_add(struct reader *reader, struct tree *tree, const struct node *parent,
		      const struct statement *statements, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct statement *statement = &statements[i];
		const struct word *words = statement->words;
		const struct node **nodes = NULL;
		size_t n_nodes = 0;

		if (nodes_named(reader, words, words + statement->n_words, &nodes, &n_nodes)) {
			for (size_t j = 0; j < n_nodes; j++) {
				tree->drawn = memory_room(tree->drawn, tree->n_drawn,
							  sizeof(*tree->drawn));
				tree->drawn[tree->n_drawn++] =
					(struct drawn){nodes[j], parent, words[0].offset};
			}
			if (statement->has_body && n_nodes == 1)
				drawn_add(reader, tree, nodes[0], statement->body,
					  statement->n_body);
			else if (statement->has_body)
				reader_complain(
					reader, words,
					"a block below several nodes; write one node before its "
					"`{`");
		}
		free(nodes);
	}
}

static int drawn_compare(const void *left, const void *right)
{
	const struct drawn *a = left, *b = right;

	if (a->node != b->node)
		return a->node->index < b->node->index ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void tree_draw(struct reader *reader, struct tree *tree, const struct statement *statement)
{
	tree->kind = TREE_BY_HAND;
	drawn_add(reader, tree, NULL, statement->body, statement->n_body);
	if (tree->n_drawn > 0)
		qsort(tree->drawn, tree->n_drawn, sizeof(*tree->drawn), drawn_compare);
	for (size_t i = 1; i < tree->n_drawn; i++) {
		if (tree->drawn[i].node == tree->drawn[i - 1].node)
			complain(reader->complaints, reader->source, tree->drawn[i].offset,
				 "`%s` is in the tree already (line %zu); a node has one place",
				 tree->drawn[i].node->name,
				 source_line(reader->source, tree->drawn[i - 1].offset));
	}
}

static void tree_read(struct reader *reader, struct tree *tree, const struct statement *statement)
{
	static const char *const kinds[] = {"by-cluster", "flat", "fanout", "by-hand"};
	const struct word *words = statement->words;
	const char *nearest;
	size_t n = statement->n_words;
	struct error e;

	tree->said = true;
	tree->offset = words[0].offset;
	if (strcmp(words[1].text, "by-hand") == 0 && n == 2 && statement->has_body) {
		tree_draw(reader, tree, statement);
	} else if (statement->has_body) {
		reader_complain(reader, &words[1],
				"only `tree by-hand { ... }` has a block, of nodes below nodes");
	} else if (strcmp(words[1].text, "by-cluster") == 0 && n == 2) {
		tree->kind = TREE_BY_CLUSTER;
	} else if (strcmp(words[1].text, "flat") == 0 && n == 2) {
		tree->kind = TREE_FLAT;
	} else if (strcmp(words[1].text, "flat") == 0 && n == 4 &&
		   strcmp(words[2].text, "ignoring") == 0 &&
		   strcmp(words[3].text, "gateways") == 0) {
		tree->kind = TREE_FLAT;
		tree->ignoring_gateways = true;
	} else if (strcmp(words[1].text, "fanout") == 0 && n == 3) {
		tree->kind = TREE_FANOUT;
		if (quantity_count(words[2].text, 2, FANOUT_MAX, &tree->fanout, &e) < 0)
			reader_complain(reader, &words[2], "%s, as a fan-out has to be", e.text);
	} else {
		nearest = word_nearest(words[1].text, kinds, ARRAY_SIZE(kinds), sizeof(*kinds));
		if (nearest != NULL && strcmp(nearest, words[1].text) != 0)
			reader_complain(reader, &words[1],
					"unknown tree `%.60s`; did you mean `%s`?", words[1].text,
					nearest);
		else
			reader_complain(
				reader, &words[1],
				"no such tree; write `tree by-cluster;`, `tree flat;`, `tree flat "
				"ignoring gateways;`, `tree fanout 8;` or `tree by-hand { ... }`");
	}
}

static void map_tree_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct mapping *mapping = target;

	tree_read(reader, &mapping->tree, statement);
}

static void view_tree_apply(struct reader *reader, void *target, const struct statement *statement)
{
	tree_read(reader, target, statement);
}

static void head_add(struct reader *reader, struct tree *tree, const struct statement *statement)
{
	const struct word *words = statement->words;
	const struct node *node;

	if (strcmp(words[1].text, "on") != 0) {
		reader_complain(reader, &words[1],
				"`%.60s` instead of `on`; write `cluster on NODE;`", words[1].text);
		return;
	}
	node = node_named(reader, &words[2], words[2].text);
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
		if (tree->heads[i]->cluster == node->cluster) {
			reader_complain(
				reader, &words[2],
				"cluster `%s` is joined on `%s` already; name one node for it",
				node->cluster->name, tree->heads[i]->name);
			return;
		}
	}
	tree->heads = memory_room(tree->heads, tree->n_heads, sizeof(*tree->heads));
	tree->heads[tree->n_heads++] = node;
}

static void map_cluster_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	struct mapping *mapping = target;

	head_add(reader, &mapping->tree, statement);
}

static void view_cluster_apply(struct reader *reader, void *target,
			       const struct statement *statement)
{
	head_add(reader, target, statement);
}

static void view_apply(struct reader *reader, void *target, const struct statement *statement)
{
	const struct reading_map *reading = reader->map;
	const struct application *application = reading->application;
	const struct word *word = &statement->words[1];
	struct mapping *mapping = target;
	struct view_tree view = {.view = memory_copy(word->text)};

	if (application_view(application, word->text) == NULL) {
		const char **names = memory_new(application->n_views, sizeof(*names));
		const char *nearest;

		for (size_t i = 0; i < application->n_views; i++)
			names[i] = application->views[i]->name;
		nearest = word_nearest(word->text, names, application->n_views, sizeof(*names));
		reader_complain(reader, word, "no view `%.60s` in the application map; %s%s%s",
				word->text, nearest != NULL ? "did you mean `" : "add it there",
				nearest != NULL ? nearest : "", nearest != NULL ? "`?" : "");
		free(names);
	}
	for (size_t i = 0; i < mapping->n_views; i++) {
		if (strcmp(mapping->views[i].view, word->text) == 0)
			reader_complain(reader, word, "a second `view %s`; put both together",
					word->text);
	}
	directives_apply(reader, IN_VIEW, statement->body, statement->n_body, &view.tree);
	mapping->views = memory_room(mapping->views, mapping->n_views, sizeof(*mapping->views));
	mapping->views[mapping->n_views++] = view;
}

static const struct directive directives[] = {
	{
		.keyword = "place",
		.usage = "place rank[0-7] on w[0-7];",
		.contexts = 1u << IN_MAP,
		.least = 3,
		.most = SIZE_MAX - 1,
		.apply = place_apply,
	},
	{
		.keyword = "entry",
		.usage = "entry NODE;",
		.contexts = 1u << IN_MAP,
		.least = 1,
		.most = 1,
		.once = true,
		.apply = entry_apply,
	},
	{
		.keyword = "tree",
		.usage = "tree by-cluster;",
		.contexts = 1u << IN_MAP,
		.least = 1,
		.most = 3,
		.body = BODY_OPTIONAL,
		.once = true,
		.apply = map_tree_apply,
	},
	{
		.keyword = "tree",
		.usage = "tree by-cluster;",
		.contexts = 1u << IN_VIEW,
		.least = 1,
		.most = 3,
		.body = BODY_OPTIONAL,
		.once = true,
		.apply = view_tree_apply,
	},
	{
		.keyword = "cluster",
		.usage = "cluster on NODE;",
		.contexts = 1u << IN_MAP,
		.least = 2,
		.most = 2,
		.apply = map_cluster_apply,
	},
	{
		.keyword = "cluster",
		.usage = "cluster on NODE;",
		.contexts = 1u << IN_VIEW,
		.least = 2,
		.most = 2,
		.apply = view_cluster_apply,
	},
	{
		.keyword = "view",
		.usage = "view NAME { tree flat; cluster on NODE; }",
		.contexts = 1u << IN_MAP,
		.least = 1,
		.most = 1,
		.body = BODY_REQUIRED,
		.apply = view_apply,
	},
};

static bool is_keyword(const char *word)
{
	return directive_is_keyword(directives, ARRAY_SIZE(directives), word);
}

/* Ranks that are placed nowhere although others are. */
static void unplaced_check(const struct mapping *mapping, const struct application *application,
			   const struct source *source, struct complaints *complaints)
{
	unsigned first = 0, last;

	if (!mapping->places || mapping->everywhere != NULL)
		return;
	while (first < application->ranks && mapping->ranks[first] != NULL)
		first++;
	if (first == application->ranks)
		return;
	for (last = first; last + 1 < application->ranks && mapping->ranks[last + 1] == NULL;)
		last++;
	if (last > first)
		complain_file(complaints, source,
			      "rank[%u-%u] of the application map are placed nowhere; add `place "
			      "rank[%u-%u] on NODES;`",
			      first, last, first, last);
	else
		complain_file(
			complaints, source,
			"rank%u of the application map is placed nowhere; add `place rank%u on "
			"NODE;`",
			first, first);
}

void mapping_read(struct mapping *mapping, const struct source *source,
		  const struct application *application, const struct cluster_map *clusters,
		  struct complaints *complaints)
{
	struct reading_map reading = {mapping, application, clusters};
	struct reader reader = {
		.source = source,
		.complaints = complaints,
		.table = directives,
		.n_table = ARRAY_SIZE(directives),
		.contexts = contexts,
		.map = &reading,
	};
	struct statement *statements;
	size_t n, before = complaints->total;

	*mapping = (struct mapping){.n_ranks = RANKS_MAX};
	mapping->ranks = memory_new(RANKS_MAX, sizeof(*mapping->ranks));
	mapping->rank_offsets = memory_new(RANKS_MAX, sizeof(*mapping->rank_offsets));
	n = statements_read(source, is_keyword, complaints, &statements);
	directives_apply(&reader, IN_MAP, statements, n, mapping);
	if (mapping->entry == NULL && complaints->total == before && !clusters->incomplete)
		complain_file(complaints, source,
			      "no entry, where consumers connect; add `entry NODE;`");
	if (complaints->total == before && !clusters->incomplete)
		unplaced_check(mapping, application, source, complaints);
	statements_free(statements, n);
}

static void tree_fini(struct tree *tree)
{
	free(tree->drawn);
	free(tree->heads);
}

void mapping_fini(struct mapping *mapping)
{
	for (size_t i = 0; i < mapping->n_views; i++) {
		free(mapping->views[i].view);
		tree_fini(&mapping->views[i].tree);
	}
	tree_fini(&mapping->tree);
	free(mapping->views);
	free(mapping->ranks);
	free(mapping->rank_offsets);
	*mapping = (struct mapping){0};
}

bool mapping_rank_on(const struct mapping *mapping, unsigned rank, const struct node *node)
{
	if (mapping->everywhere != NULL)
		return mapping->everywhere == node;
	return rank < mapping->n_ranks && mapping->ranks[rank] == node;
}

static const struct tree *view_tree(const struct mapping *mapping, const char *view)
{
	for (size_t i = 0; i < mapping->n_views; i++) {
		if (strcmp(mapping->views[i].view, view) == 0)
			return &mapping->views[i].tree;
	}
	return NULL;
}

const struct tree *mapping_tree(const struct mapping *mapping, const char *view)
{
	const struct tree *tree = view_tree(mapping, view);

	return tree != NULL && tree->said ? tree : &mapping->tree;
}

const struct node *mapping_head(const struct mapping *mapping, const char *view,
				const struct cluster *cluster)
{
	const struct tree *trees[] = {view_tree(mapping, view), &mapping->tree};

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		for (size_t j = 0; trees[i] != NULL && j < trees[i]->n_heads; j++) {
			if (trees[i]->heads[j]->cluster == cluster)
				return trees[i]->heads[j];
		}
	}
	return NULL;
}
