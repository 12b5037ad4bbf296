/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and checks cluster.map. References to nodes are resolved after all nodes are read. */
#include "pathmap/model/cluster-read.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"

/* The blocks of a cluster map. */
enum context { IN_MAP, IN_CLUSTER, IN_NODE, IN_DEPLOY };

static const char *const contexts[] = {
	[IN_MAP] = "cluster.map",
	[IN_CLUSTER] = "cluster",
	[IN_NODE] = "node",
	[IN_DEPLOY] = "deploy",
	NULL,
};

static void resolve_later(struct reader *reader, struct cluster *cluster,
			  const struct statement *statement, cluster_resolve *resolve)
{
	struct cluster_reading *reading = reader->map;

	reading->pending =
		memory_room(reading->pending, reading->n_pending, sizeof(*reading->pending));
	reading->pending[reading->n_pending++] = (struct pending){resolve, cluster, statement};
}

/* Add one node. Returns whether it is new and valid. */
static bool node_add(struct reader *reader, struct cluster *cluster, const struct word *word,
		     const char *name)
{
	struct cluster_map *map = reader_cluster_map(reader);
	const struct node *same = cluster_map_node(map, name);
	struct error e;

	if (name_part_check(name, &e) < 0) {
		reader_complain(reader, word, "%s", e.text);
	} else if (same != NULL) {
		reader_complain(
			reader, word,
			"a second node `%s`; the first is in line %zu, and names of nodes are "
			"unique in the whole map",
			name, mapfile_line(reader->source, same->offset));
	} else if (map->n_nodes == NODES_MAX) {
		reader_complain(reader, word, "more than %d nodes; leave some out", NODES_MAX);
	} else {
		cluster_node_new(map, cluster, name, word->offset);
		return true;
	}
	return false;
}

static void nodes_apply(struct reader *reader, void *target, const struct statement *statement)
{
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		struct hostlist names = {0};

		word_expand(reader, word, &names);
		for (size_t j = 0; j < names.n; j++) {
			if (!node_add(reader, target, word, names.names[j]))
				break;
		}
		hostlist_fini(&names);
	}
}

static void address_apply(struct reader *reader, void *target, const struct statement *statement)
{
	resolve_later(reader, target, statement, address_resolve);
}

static void gateway_apply(struct reader *reader, void *target, const struct statement *statement)
{
	resolve_later(reader, target, statement, gateway_resolve);
}

static void unreachable_apply(struct reader *reader, void *target,
			      const struct statement *statement)
{
	resolve_later(reader, target, statement, unreachable_resolve);
}

static void host_apply(struct reader *reader, void *target, const struct statement *statement)
{
	resolve_later(reader, target, statement, deploy_host_resolve);
}

static void deploy_apply(struct reader *reader, void *target, const struct statement *statement)
{
	deploy_read(reader, target, statement);
	directives_apply(reader, IN_DEPLOY, statement->body, statement->n_body, target);
}

static void named_link_apply(struct reader *reader, void *target, const struct statement *statement)
{
	(void)target;
	resolve_later(reader, NULL, statement, named_link_resolve);
}

static void block_link_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *cluster = target;

	link_words(reader, statement, 1, &cluster->link);
	for (size_t i = 0; cluster->name == NULL && i < cluster->n_nodes; i++)
		cluster->nodes[i]->link = cluster->link;
}

static void cluster_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster_map *map = target;
	const struct word *word = &statement->words[1];
	const struct cluster *same = cluster_map_cluster(map, word->text);
	size_t before = reader->diagnostics->total;
	struct cluster *cluster;
	struct error e;

	if (name_part_check(word->text, &e) < 0)
		reader_complain(reader, word, "%s", e.text);
	else if (same != NULL)
		reader_complain(reader, word, "a second cluster `%s`; the first is in line %zu",
				word->text, mapfile_line(reader->source, same->offset));
	else if (map->n_clusters == CLUSTERS_MAX)
		reader_complain(reader, word, "more than %d clusters; leave some out",
				CLUSTERS_MAX);
	cluster = cluster_new(map, word->text);
	cluster->offset = word->offset;
	directives_apply(reader, IN_CLUSTER, statement->body, statement->n_body, cluster);
	if (cluster->n_nodes == 0 && reader->diagnostics->total == before)
		reader_complain(reader, word, "cluster `%s` has no nodes; add `nodes w[0-7];`",
				word->text);
}

static void node_apply(struct reader *reader, void *target, const struct statement *statement)
{
	struct cluster *block = cluster_new(target, NULL);

	nodes_apply(reader, block, statement);
	directives_apply(reader, IN_NODE, statement->body, statement->n_body, block);
}

static const struct directive directives[] = {
	{.usage = "cluster NAME { nodes w[0-7]; ... }",
	 .contexts = 1u << IN_MAP,
	 .body = BODY_REQUIRED,
	 .apply = cluster_apply},
	{.usage = "node NAME { address HOST:PORT; }",
	 .contexts = 1u << IN_MAP,
	 .body = BODY_OPTIONAL,
	 .apply = node_apply},
	{.usage = "link FROM TO bandwidth 100Mbit latency 70us;",
	 .contexts = 1u << IN_MAP,
	 .least = 4,
	 .most = 6,
	 .apply = named_link_apply},
	{.usage = "nodes w[0-7] ...;",
	 .contexts = 1u << IN_CLUSTER,
	 .most = DIRECTIVE_ANY,
	 .apply = nodes_apply},
	{.usage = "address w[0-7] w[0-7].example.org:7440;",
	 .contexts = 1u << IN_CLUSTER,
	 .most = 2,
	 .apply = address_apply},
	{.usage = "address HOST:PORT;",
	 .contexts = 1u << IN_NODE,
	 .once = true,
	 .apply = address_apply},
	{.usage = "gateway NODE;",
	 .contexts = 1u << IN_CLUSTER | 1u << IN_NODE,
	 .once = true,
	 .apply = gateway_apply},
	{.usage = "unreachable w[0-7] ...;",
	 .contexts = 1u << IN_CLUSTER,
	 .most = DIRECTIVE_ANY,
	 .apply = unreachable_apply},
	{.usage = "link bandwidth 100Mbit latency 70us;",
	 .contexts = 1u << IN_CLUSTER | 1u << IN_NODE,
	 .least = 2,
	 .most = 4,
	 .once = true,
	 .apply = block_link_apply},
	{.usage = "deploy ssh; or deploy ssh { user NAME; port 22; ... }",
	 .contexts = 1u << IN_CLUSTER | 1u << IN_NODE,
	 .body = BODY_OPTIONAL,
	 .once = true,
	 .apply = deploy_apply},
	{.usage = "user NAME;",
	 .contexts = 1u << IN_DEPLOY,
	 .once = true,
	 .apply = deploy_user_read},
	{.usage = "port 22;", .contexts = 1u << IN_DEPLOY, .once = true, .apply = deploy_port_read},
	{.usage = "host w[0-7].example.org;",
	 .contexts = 1u << IN_DEPLOY,
	 .most = DIRECTIVE_ANY,
	 .once = true,
	 .apply = host_apply},
	{.usage = "binary /usr/bin/evspace;",
	 .contexts = 1u << IN_DEPLOY,
	 .once = true,
	 .apply = deploy_binary_read},
	{.usage = "folder /var/tmp/evspace;",
	 .contexts = 1u << IN_DEPLOY,
	 .once = true,
	 .apply = deploy_folder_read},
	{.usage = "stages /usr/local/lib/evspace/stages;",
	 .contexts = 1u << IN_DEPLOY,
	 .once = true,
	 .apply = deploy_stages_read},
};

void cluster_map_read(struct cluster_map *map, const struct mapfile *source,
		      struct diagnostics *diagnostics)
{
	struct cluster_reading reading = {.map = map};
	struct reader reader = {
		.source = source,
		.diagnostics = diagnostics,
		.table = directives,
		.n_table = sizeof(directives) / sizeof(directives[0]),
		.contexts = contexts,
		.map = &reading,
	};

	*map = (struct cluster_map){0};
	reader_begin(&reader, IN_MAP, map);
	for (size_t i = 0; i < reading.n_pending && diagnostics->total < COMPLAINTS_SHOWN; i++) {
		const struct pending *pending = &reading.pending[i];

		pending->resolve(&reader, pending->cluster, pending->statement);
	}
	gateways_check(&reader);
	if (map->n_nodes == 0 && reader_is_clean(&reader))
		complain_file(diagnostics, source,
			      "there are no nodes in it; write `cluster NAME { nodes w[0-7]; }`");
	map->incomplete = !reader_is_clean(&reader);
	free(reading.pending);
	reader_end(&reader);
}
