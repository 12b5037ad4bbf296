/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks cluster.map. What refers to nodes is resolved when all of them are known. */
#include "pathmap/cluster-read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/directive.h"
#include "pathmap/hostlist.h"
#include "pathmap/memory.h"
#include "pathmap/pattern.h"
#include "pathmap/quantity.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof(*(array)))

/* The blocks of a cluster map. */
enum context { IN_MAP, IN_CLUSTER, IN_NODE };

static const char *const contexts[] = {
	[IN_MAP] = "cluster.map",
	[IN_CLUSTER] = "cluster",
	[IN_NODE] = "node",
	NULL,
};

/* A statement that names nodes which may come later in the file. */
struct pending {
	void (*resolve)(struct reader *reader, struct cluster *cluster,
			const struct statement *statement);
	struct cluster *cluster;
	const struct statement *statement;
};

struct reading_map {
	struct cluster_map *map;
	struct pending *pending;
	size_t n_pending;
};

static struct cluster_map *map_of(struct reader *reader)
{
	struct reading_map *reading = reader->map;

	return reading->map;
}

static void resolve_later(struct reader *reader, struct cluster *cluster,
			  const struct statement *statement,
			  void (*resolve)(struct reader *, struct cluster *,
					  const struct statement *))
{
	struct reading_map *reading = reader->map;

	reading->pending =
		memory_room(reading->pending, reading->n_pending, sizeof(*reading->pending));
	reading->pending[reading->n_pending++] = (struct pending){resolve, cluster, statement};
}

/* Expand one word. Returns whether it could be. */
static bool word_expand(struct reader *reader, const struct word *word, struct hostlist *list)
{
	struct error e;
	size_t at;

	if (hostlist_add(list, word->text, &at, &e) == 0)
		return true;
	reader_complain_at(reader, word, at, "%s", e.text);
	return false;
}

static void nodes_add(struct reader *reader, struct cluster *cluster,
		      const struct statement *statement)
{
	struct cluster_map *map = map_of(reader);

	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		struct hostlist names = {0};

		word_expand(reader, word, &names);
		for (size_t j = 0; j < names.n; j++) {
			const struct node *same = cluster_map_node(map, names.names[j]);
			struct error e;

			if (name_part_check(names.names[j], &e) < 0) {
				reader_complain(reader, word, "%s", e.text);
				break;
			}
			if (same != NULL) {
				reader_complain(reader, word,
						"a second node `%s`; the first is in line %zu, and "
						"names of "
						"nodes are unique in the whole map",
						same->name,
						source_line(reader->source, same->offset));
				break;
			}
			cluster_node_new(map, cluster, names.names[j], word->offset);
		}
		hostlist_fini(&names);
	}
}

static void nodes_apply(struct reader *reader, void *target, const struct statement *statement)
{
	nodes_add(reader, target, statement);
}

/* The node of this block (or, with @cluster NULL, of the map) that the word names. */
static struct node *node_named(struct reader *reader, const struct cluster *cluster,
			       const struct word *word, const char *name)
{
	struct cluster_map *map = map_of(reader);
	struct node *node = cluster_map_node(map, name);
	const char *nearest;

	if (node == NULL) {
		nearest = cluster_map_nearest(map, name);
		if (nearest != NULL)
			reader_complain(reader, word, "no node `%.60s`; did you mean `%s`?", name,
					nearest);
		else
			reader_complain(
				reader, word,
				"no node `%.60s`; add it to the `nodes` of a cluster, or as `node "
				"%.60s { address HOST:PORT; }`",
				name, name);
		return NULL;
	}
	if (cluster != NULL && node->cluster != cluster) {
		reader_complain(reader, word, "`%s` is not in cluster `%s`; write this where it is",
				name, cluster->name);
		return NULL;
	}
	return node;
}

/* Is it "host:port" with a port from 1 to 65535? */
static bool address_check(struct reader *reader, const struct word *word, const char *address)
{
	const char *colon = strrchr(address, ':');
	unsigned port;
	struct error e;

	if (colon == NULL || colon == address) {
		reader_complain(
			reader, word,
			"`%.60s` is no address; write HOST:PORT, like `w0.example.org:7440` or "
			"`[::1]:7440`",
			address);
		return false;
	}
	if (quantity_count(colon + 1, 1, 65535, &port, &e) < 0) {
		reader_complain(reader, word, "%s, as a port has to be", e.text);
		return false;
	}
	if (*address != '[' && memchr(address, ':', (size_t)(colon - address)) != NULL) {
		reader_complain(
			reader, word,
			"`%.60s` has several colons; write an IPv6 address in brackets, like "
			"`[::1]:7440`",
			address);
		return false;
	}
	return true;
}

static void address_set(struct reader *reader, struct node *node, const struct word *word,
			const char *address)
{
	struct cluster_map *map = map_of(reader);

	if (!address_check(reader, word, address))
		return;
	if (*node->address != '\0') {
		reader_complain(reader, word, "a second address for `%s`; the first is in line %zu",
				node->name, source_line(reader->source, node->address_offset));
		return;
	}
	for (size_t i = 0; i < map->n_nodes; i++) {
		if (strcmp(map->nodes[i]->address, address) == 0) {
			reader_complain(
				reader, word,
				"`%s` is the address of `%s` already (line %zu); each node listens "
				"on its own",
				address, map->nodes[i]->name,
				source_line(reader->source, map->nodes[i]->address_offset));
			return;
		}
	}
	free(node->address);
	node->address = memory_copy(address);
	node->address_offset = word->offset;
}

/* `address [NODES] ADDRESSES;`: one address for each node, in order. */
static void address_resolve(struct reader *reader, struct cluster *cluster,
			    const struct statement *statement)
{
	const struct word *last = &statement->words[statement->n_words - 1];
	struct hostlist names = {0}, addresses = {0};
	bool right = word_expand(reader, last, &addresses);

	if (right && statement->n_words == 3)
		right = word_expand(reader, &statement->words[1], &names);
	else
		for (size_t i = 0; i < cluster->n_nodes; i++) {
			names.names = memory_room(names.names, names.n, sizeof(*names.names));
			names.names[names.n++] = memory_copy(cluster->nodes[i]->name);
		}
	if (right && names.n != addresses.n) {
		reader_complain(reader, last,
				"%zu address%s for %zu node%s; each node gets one, in order",
				addresses.n, addresses.n == 1 ? "" : "es", names.n,
				names.n == 1 ? "" : "s");
		right = false;
	}
	for (size_t i = 0; right && i < names.n; i++) {
		struct node *node = node_named(reader, cluster->name != NULL ? cluster : NULL,
					       &statement->words[1], names.names[i]);

		if (node == NULL)
			break;
		address_set(reader, node, last, addresses.names[i]);
	}
	hostlist_fini(&names);
	hostlist_fini(&addresses);
}

static void address_apply(struct reader *reader, void *target, const struct statement *statement)
{
	resolve_later(reader, target, statement, address_resolve);
}

static void gateway_resolve(struct reader *reader, struct cluster *cluster,
			    const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct node *gateway = node_named(reader, NULL, word, word->text);

	if (gateway == NULL)
		return;
	if (gateway->cluster != NULL && gateway->cluster != cluster) {
		reader_complain(
			reader, word,
			"`%s` is inside cluster `%s`; a gateway is a `node` outside clusters, or "
			"one of the cluster's own nodes",
			gateway->name, gateway->cluster->name);
		return;
	}
	if (cluster->name != NULL) {
		cluster->gateway = gateway;
		return;
	}
	for (size_t i = 0; i < cluster->n_nodes; i++)
		cluster->nodes[i]->gateway = gateway;
	for (const struct node *node = gateway; node != NULL; node = node_gateway(node)) {
		for (size_t i = 0; i < cluster->n_nodes; i++) {
			if (cluster->nodes[i] != node)
				continue;
			reader_complain(reader, word,
					"`%s` would be reached through itself; break the circle of "
					"gateways",
					node->name);
			for (size_t j = 0; j < cluster->n_nodes; j++)
				cluster->nodes[j]->gateway = NULL;
			return;
		}
	}
}

static void gateway_apply(struct reader *reader, void *target, const struct statement *statement)
{
	resolve_later(reader, target, statement, gateway_resolve);
}

static void unreachable_resolve(struct reader *reader, struct cluster *cluster,
				const struct statement *statement)
{
	for (size_t i = 1; i < statement->n_words; i++) {
		struct hostlist names = {0};

		word_expand(reader, &statement->words[i], &names);
		for (size_t j = 0; j < names.n; j++) {
			struct node *node =
				node_named(reader, cluster, &statement->words[i], names.names[j]);

			if (node == NULL)
				break;
			node->unreachable = true;
		}
		hostlist_fini(&names);
	}
}

static void unreachable_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	resolve_later(reader, target, statement, unreachable_resolve);
}

/* Read `bandwidth Q latency Q` (one of them is enough) from word @first on. */
static bool link_words(struct reader *reader, const struct statement *statement, size_t first,
		       struct link *link)
{
	struct link read = {0};

	for (size_t i = first; i < statement->n_words; i += 2) {
		const struct word *what = &statement->words[i], *value = what + 1;
		struct error e;
		int result;

		if (strcmp(what->text, "bandwidth") != 0 && strcmp(what->text, "latency") != 0) {
			reader_complain(reader, what,
					"unknown `%.60s`; a link has `bandwidth 100Mbit` and "
					"`latency 70us`",
					what->text);
			return false;
		}
		if (i + 1 == statement->n_words) {
			reader_complain(reader, what, "`%s` lacks its value; write it like `%s`",
					what->text,
					*what->text == 'b' ? "bandwidth 100Mbit" : "latency 70us");
			return false;
		}
		result = *what->text == 'b' ? quantity_bandwidth(value->text, &read.bits_per_s, &e)
					    : quantity_time(value->text, &read.latency_s, &e);
		if (result < 0) {
			reader_complain(reader, value, "%s", e.text);
			return false;
		}
	}
	*link = read;
	return true;
}

static void block_link_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *cluster = target;

	link_words(reader, statement, 1, &cluster->link);
	for (size_t i = 0; cluster->name == NULL && i < cluster->n_nodes; i++)
		cluster->nodes[i]->link = cluster->link;
}

static void named_link_resolve(struct reader *reader, struct cluster *cluster,
			       const struct statement *statement)
{
	struct cluster_map *map = map_of(reader);
	struct link link;

	(void)cluster;
	for (size_t i = 1; i <= 2; i++) {
		const struct word *word = &statement->words[i];

		if (cluster_map_cluster(map, word->text) == NULL &&
		    node_named(reader, NULL, word, word->text) == NULL)
			return;
	}
	if (!link_words(reader, statement, 3, &link))
		return;
	map->links = memory_room(map->links, map->n_links, sizeof(*map->links));
	map->links[map->n_links++] = (struct named_link){
		.from = memory_copy(statement->words[1].text),
		.to = memory_copy(statement->words[2].text),
		.link = link,
	};
}

static void named_link_apply(struct reader *reader, void *target, const struct statement *statement)
{
	(void)target;
	resolve_later(reader, NULL, statement, named_link_resolve);
}

static void cluster_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster_map *map = target;
	const struct word *word = &statement->words[1];
	const struct cluster *same = cluster_map_cluster(map, word->text);
	struct cluster *cluster;
	struct error e;
	size_t before = reader->complaints->total;

	if (name_part_check(word->text, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	else if (same != NULL)
		reader_complain(reader, word, "a second cluster `%s`; the first is in line %zu",
				word->text, source_line(reader->source, same->offset));
	cluster = cluster_new(map, word->text);
	cluster->offset = word->offset;
	directives_apply(reader, IN_CLUSTER, statement->body, statement->n_body, cluster);
	if (cluster->n_nodes == 0 && reader->complaints->total == before)
		reader_complain(reader, word, "cluster `%s` has no nodes; add `nodes w[0-7];`",
				word->text);
}

static void node_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *block = cluster_new(target, NULL);

	nodes_add(reader, block, statement);
	directives_apply(reader, IN_NODE, statement->body, statement->n_body, block);
}

static const struct directive directives[] = {
	{
		.keyword = "cluster",
		.usage = "cluster NAME { nodes w[0-7]; ... }",
		.contexts = 1u << IN_MAP,
		.least = 1,
		.most = 1,
		.body = BODY_REQUIRED,
		.apply = cluster_apply,
	},
	{
		.keyword = "node",
		.usage = "node NAME { address HOST:PORT; }",
		.contexts = 1u << IN_MAP,
		.least = 1,
		.most = 1,
		.body = BODY_OPTIONAL,
		.apply = node_apply,
	},
	{
		.keyword = "link",
		.usage = "link FROM TO bandwidth 100Mbit latency 70us;",
		.contexts = 1u << IN_MAP,
		.least = 4,
		.most = 6,
		.apply = named_link_apply,
	},
	{
		.keyword = "nodes",
		.usage = "nodes w[0-7] ...;",
		.contexts = 1u << IN_CLUSTER,
		.least = 1,
		.most = SIZE_MAX - 1,
		.apply = nodes_apply,
	},
	{
		.keyword = "address",
		.usage = "address w[0-7] w[0-7].example.org:7440;",
		.contexts = 1u << IN_CLUSTER,
		.least = 1,
		.most = 2,
		.apply = address_apply,
	},
	{
		.keyword = "address",
		.usage = "address HOST:PORT;",
		.contexts = 1u << IN_NODE,
		.least = 1,
		.most = 1,
		.once = true,
		.apply = address_apply,
	},
	{
		.keyword = "gateway",
		.usage = "gateway NODE;",
		.contexts = 1u << IN_CLUSTER | 1u << IN_NODE,
		.least = 1,
		.most = 1,
		.once = true,
		.apply = gateway_apply,
	},
	{
		.keyword = "unreachable",
		.usage = "unreachable w[0-7] ...;",
		.contexts = 1u << IN_CLUSTER,
		.least = 1,
		.most = SIZE_MAX - 1,
		.apply = unreachable_apply,
	},
	{
		.keyword = "link",
		.usage = "link bandwidth 100Mbit latency 70us;",
		.contexts = 1u << IN_CLUSTER | 1u << IN_NODE,
		.least = 2,
		.most = 4,
		.once = true,
		.apply = block_link_apply,
	},
};

static bool is_keyword(const char *word)
{
	return directive_is_keyword(directives, ARRAY_SIZE(directives), word);
}

void cluster_map_read(struct cluster_map *map, const struct source *source,
		      struct complaints *complaints)
{
	struct reading_map reading = {.map = map};
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

	*map = (struct cluster_map){0};
	n = statements_read(source, is_keyword, complaints, &statements);
	directives_apply(&reader, IN_MAP, statements, n, map);
	for (size_t i = 0; i < reading.n_pending; i++) {
		const struct pending *pending = &reading.pending[i];

		pending->resolve(&reader, pending->cluster, pending->statement);
	}
	if (map->n_nodes == 0 && complaints->total == before)
		complain_file(complaints, source,
			      "no nodes in it; write `cluster NAME { nodes w[0-7]; }`");
	map->incomplete = complaints->total > before;
	free(reading.pending);
	statements_free(statements, n);
}
