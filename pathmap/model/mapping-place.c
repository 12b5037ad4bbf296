/* SPDX-License-Identifier: BSD-3-Clause */
/* `place`: assigns ranks to nodes, in blocks or in turn, and checks that the numbers fit. And
 * finds the nodes that a statement names. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/mapping-read.h"
#include "pathmap/model/hostlist.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

const struct node *mapped_node(struct reader *reader, const struct word *word, const char *name)
{
	const struct mapping_reading *reading = reader->map;
	const struct node *node = cluster_map_node(reading->clusters, name);
	const char **names, *nearest;

	if (node != NULL || reading->clusters->incomplete)
		return node;
	names = cluster_map_names(reading->clusters);
	nearest = word_nearest(name, names, reading->clusters->n_nodes);
	if (nearest != NULL)
		reader_complain(reader, word,
				"no node `%.60s` in the cluster map; did you mean `%s`?", name,
				nearest);
	else
		reader_complain(reader, word, "no node `%.60s` in the cluster map; add it there",
				name);
	free(names);
	return NULL;
}

bool mapped_nodes(struct reader *reader, const struct word *from, const struct word *to,
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
			const struct node *node = mapped_node(reader, word, names.names[i]);

			right = node != NULL;
			*nodes = memory_room(*nodes, *n, sizeof(**nodes));
			(*nodes)[(*n)++] = node;
		}
		hostlist_fini(&names);
	}
	return right;
}

/* How ranks are assigned to nodes. */
struct deal {
	const struct word *first_node;
	const struct word *end_node;
	unsigned by; /* consecutive ranks of each node, 0: not given */
	bool cyclic;
};

/* Read `by N`, of which @by is the first word. Returns whether it is valid. */
static bool deal_by(struct reader *reader, const struct word *by, const struct word *end,
		    struct deal *deal)
{
	struct error e;

	if (by + 1 == end) {
		reader_complain(reader, by,
				"`by` lacks its number; write `by 8` for eight ranks a node");
		return false;
	}
	if (quantity_count(by[1].text, 1, RANKS_MAX, &deal->by, &e) < 0) {
		reader_complain(reader, by + 1, "%s, as ranks a node have to be", e.text);
		return false;
	}
	return true;
}

/* Parse `place RANKS on NODES [by N | cyclic]`. */
static bool deal_read(struct reader *reader, const struct statement *statement, struct deal *deal)
{
	const struct word *end = statement->words + statement->n_words;
	const struct word *on = statement->words + 1, *last = end - 1;

	while (on < end && (on->quoted || strcmp(on->text, "on") != 0))
		on++;
	*deal = (struct deal){.first_node = on < end ? on + 1 : end, .end_node = end};
	for (const struct word *word = deal->first_node; word < end; word++) {
		if (word->quoted)
			continue;
		deal->cyclic = word == last && strcmp(word->text, "cyclic") == 0;
		if (deal->cyclic)
			deal->end_node = word;
		if (word + 1 < last || strcmp(word->text, "by") != 0)
			continue;
		deal->end_node = word;
		if (!deal_by(reader, word, end, deal))
			return false;
		break;
	}
	if (on > statement->words + 1 && deal->first_node < deal->end_node)
		return true;
	reader_complain(reader, statement->words,
			"ranks `on` nodes are expected; write `place rank[0-7] on w[0-7];`");
	return false;
}

/* Do the numbers fit? Each node must get a rank, and each rank a node. */
static bool deal_check(struct reader *reader, const struct statement *statement,
		       const struct deal *deal, size_t ranks, size_t nodes)
{
	size_t needed;

	if (nodes == 1 && deal->by == 0)
		return true;
	if (ranks < nodes) {
		reader_complain(reader, deal->first_node,
				"%zu nodes for %zu rank%s; leave out nodes without ranks", nodes,
				ranks, plural(ranks, "s"));
		return false;
	}
	if (deal->by > 0) {
		needed = (ranks + deal->by - 1) / deal->by;
		if (needed == nodes)
			return true;
		reader_complain(
			reader, deal->first_node,
			"%zu ranks by %u need %zu node%s, not %zu; write `by %zu`, or other nodes",
			ranks, deal->by, needed, plural(needed, "s"), nodes,
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

/* Grow the arrays by rank to hold @rank. */
static void ranks_grow(struct mapping_reading *reading, unsigned rank)
{
	struct mapping *mapping = reading->mapping;
	size_t n = 2 * mapping->n_ranks > rank ? 2 * mapping->n_ranks : (size_t)rank + 1;
	const struct node **ranks = memory_new(n, sizeof(struct node *));
	size_t *offsets = memory_new(n, sizeof(*offsets));

	if (mapping->n_ranks > 0) {
		memcpy(ranks, mapping->ranks, mapping->n_ranks * sizeof(struct node *));
		memcpy(offsets, reading->rank_offsets, mapping->n_ranks * sizeof(*offsets));
	}
	free(mapping->ranks);
	free(reading->rank_offsets);
	mapping->ranks = ranks;
	mapping->n_ranks = n;
	reading->rank_offsets = offsets;
}

static bool rank_place(struct reader *reader, const struct word *word, unsigned rank,
		       const struct node *node)
{
	struct mapping_reading *reading = reader->map;
	struct mapping *mapping = reading->mapping;

	if (reading->application->ranks > 0 && rank >= reading->application->ranks) {
		reader_complain(reader, word,
				"rank%u is not in the application map, which has rank0 to rank%u",
				rank, reading->application->ranks - 1);
		return false;
	}
	if (rank >= mapping->n_ranks)
		ranks_grow(reading, rank);
	if (mapping->ranks[rank] != NULL) {
		reader_complain(reader, word,
				"rank%u is placed on `%s` already (line %zu); place it once", rank,
				mapping->ranks[rank]->name,
				mapfile_line(reader->source, reading->rank_offsets[rank]));
		return false;
	}
	mapping->ranks[rank] = node;
	reading->rank_offsets[rank] = word->offset;
	return true;
}

/* Ranks can only be on nodes of clusters, as element names begin with the cluster. */
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

/* `place all on NODE;`: there can be no other `place`. */
static void everywhere_apply(struct reader *reader, const struct word *all, const struct deal *deal,
			     const struct node *const *nodes, size_t n)
{
	const struct mapping_reading *reading = reader->map;

	if (n != 1 || deal->by > 0 || deal->cyclic)
		reader_complain(reader, deal->first_node,
				"`place all` takes one node; name the ranks to deal them out");
	else if (reading->n_places > 1)
		reader_complain(reader, all,
				"`place all` besides another `place` (line %zu); keep one of them",
				mapfile_line(reader->source, reading->place_offset));
	else
		reading->mapping->everywhere = nodes[0];
}

void place_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct mapping_reading *reading = reader->map;
	struct mapping *mapping = reading->mapping;
	struct rank_list ranks = {0};
	const struct node **nodes = NULL;
	size_t n_nodes = 0, at;
	const struct word *first = statement->words + 1;
	struct deal deal;
	struct error e;

	(void)target;
	if (reading->n_places++ == 0)
		reading->place_offset = statement->words[0].offset;
	mapping->places = true;
	if (!deal_read(reader, statement, &deal) ||
	    !mapped_nodes(reader, deal.first_node, deal.end_node, &nodes, &n_nodes) ||
	    !nodes_can_hold(reader, deal.first_node, nodes, n_nodes))
		goto out;
	if (deal.first_node == first + 2 && strcmp(first->text, "all") == 0) {
		everywhere_apply(reader, first, &deal, nodes, n_nodes);
		goto out;
	}
	if (mapping->everywhere != NULL) {
		reader_complain(
			reader, first,
			"all ranks are placed on `%s` already (line %zu); keep one of the two",
			mapping->everywhere->name,
			mapfile_line(reader->source, reading->place_offset));
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
