/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves statements of a cluster map that name nodes: addresses, gateways, links. */
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/cluster-read.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

struct cluster_map *reader_cluster_map(const struct reader *reader)
{
	const struct cluster_reading *reading = reader->map;

	return reading->map;
}

bool word_expand(struct reader *reader, const struct word *word, struct hostlist *list)
{
	struct error e;
	size_t at;

	if (hostlist_add(list, word->text, &at, &e) == 0)
		return true;
	reader_complain_at(reader, word, at, "%s", e.text);
	return false;
}

/* The node named @name, in @cluster unless that is NULL or a nameless block; NULL after a
 * diagnostic about @word. */
static struct node *node_named(struct reader *reader, const struct cluster *cluster,
			       const struct word *word, const char *name)
{
	struct cluster_map *map = reader_cluster_map(reader);
	struct node *node = cluster_map_node(map, name);
	const char **names, *nearest;

	if (node != NULL && cluster != NULL && cluster->name != NULL && node->cluster != cluster) {
		reader_complain(reader, word, "`%s` is not in cluster `%s`; write this where it is",
				name, cluster->name);
		return NULL;
	}
	if (node != NULL)
		return node;
	if (strchr(name, ':') != NULL) {
		reader_complain(
			reader, word,
			"`%.60s` is no node, but an address: write one list of nodes, then one "
			"of addresses, like `w[0-1] unix:/run/w[0-1].sock`, or the addresses alone",
			name);
		return NULL;
	}
	names = cluster_map_names(map);
	nearest = word_nearest(name, names, map->n_nodes);
	if (nearest != NULL)
		reader_complain(reader, word, "no node `%.60s`; did you mean `%s`?", name, nearest);
	else
		reader_complain(
			reader, word,
			"no node `%.60s`; add it to the `nodes` of a cluster, or as `node %.60s "
			"{ address HOST:PORT; }`",
			name, name);
	free(names);
	return NULL;
}

/* Is it "unix:/PATH", or "host:port" with a port from 1 to 65535? */
static bool address_check(struct reader *reader, const struct word *word, const char *address)
{
	const char *colon = strrchr(address, ':');
	unsigned port;
	struct error e;

	if (strncmp(address, "unix:/", 6) == 0)
		return true;
	if (colon == NULL || colon == address) {
		reader_complain(
			reader, word,
			"`%.60s` is not an address; write HOST:PORT, like `w0.example.org:7440` or "
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
	const struct node *same;

	if (!address_check(reader, word, address))
		return;
	if (*node->address != '\0') {
		reader_complain(reader, word, "a second address for `%s`; the first is in line %zu",
				node->name, mapfile_line(reader->source, node->address_offset));
		return;
	}
	same = node_address_set(reader_cluster_map(reader), node, address, word->offset);
	if (same != NULL)
		reader_complain(
			reader, word,
			"`%.60s` is the address of `%s` already (line %zu); each node listens "
			"on its own",
			address, same->name, mapfile_line(reader->source, same->address_offset));
}

/* The nodes that the statement gives addresses to: those it names, or all of the block. */
static bool addressed_names(struct reader *reader, const struct cluster *cluster,
			    const struct statement *statement, struct hostlist *names)
{
	if (statement->n_words == 3)
		return word_expand(reader, &statement->words[1], names);
	for (size_t i = 0; i < cluster->n_nodes; i++) {
		names->names = memory_room(names->names, names->n, sizeof(*names->names));
		names->names[names->n++] = memory_copy(cluster->nodes[i]->name);
	}
	return true;
}

void address_resolve(struct reader *reader, struct cluster *cluster,
		     const struct statement *statement)
{
	const struct word *last = &statement->words[statement->n_words - 1];
	struct hostlist names = {0}, addresses = {0};
	bool right = word_expand(reader, last, &addresses) &&
		     addressed_names(reader, cluster, statement, &names);

	if (right && names.n != addresses.n) {
		reader_complain(
			reader, last, "%zu address%s for %zu node%s; each node gets one, in order",
			addresses.n, plural(addresses.n, "es"), names.n, plural(names.n, "s"));
		right = false;
	}
	for (size_t i = 0; right && i < names.n; i++) {
		struct node *node =
			node_named(reader, cluster, &statement->words[1], names.names[i]);

		if (node == NULL)
			break;
		address_set(reader, node, last, addresses.names[i]);
	}
	hostlist_fini(&names);
	hostlist_fini(&addresses);
}

void gateway_resolve(struct reader *reader, struct cluster *cluster,
		     const struct statement *statement)
{
	const struct word *word = &statement->words[1];
	struct node *gateway = node_named(reader, NULL, word, word->text);

	if (gateway == NULL)
		return;
	if (gateway->cluster != NULL && gateway->cluster != cluster) {
		reader_complain(
			reader, word,
			"`%s` is inside cluster `%s`; a gateway is a `node` outside clusters, "
			"or one of the cluster's own nodes",
			gateway->name, gateway->cluster->name);
		return;
	}
	if (cluster->name != NULL)
		cluster->gateway = gateway;
	for (size_t i = 0; cluster->name == NULL && i < cluster->n_nodes; i++) {
		cluster->nodes[i]->gateway = gateway;
		cluster->nodes[i]->gateway_offset = word->offset;
	}
}

void gateways_check(struct reader *reader)
{
	struct cluster_map *map = reader_cluster_map(reader);

	for (size_t i = 0; i < map->n_nodes; i++) {
		struct node *node = map->nodes[i];
		const struct node *gateway = node->gateway;
		size_t n = 0;

		while (gateway != NULL && gateway != node && n < GATEWAYS_MAX) {
			gateway = gateway->gateway;
			n++;
		}
		if (gateway == NULL)
			continue;
		if (gateway == node)
			complain(reader->diagnostics, reader->source, node->gateway_offset,
				 "`%s` would be reached through itself; break the circle of "
				 "gateways",
				 node->name);
		else
			complain(reader->diagnostics, reader->source, node->gateway_offset,
				 "`%s` is behind more than %d gateways; connect to one of them "
				 "directly",
				 node->name, GATEWAYS_MAX);
		node->gateway = NULL;
	}
}

void unreachable_resolve(struct reader *reader, struct cluster *cluster,
			 const struct statement *statement)
{
	for (size_t i = 1; i < statement->n_words; i++) {
		const struct word *word = &statement->words[i];
		struct hostlist names = {0};

		word_expand(reader, word, &names);
		for (size_t j = 0; j < names.n; j++) {
			struct node *node = node_named(reader, cluster, word, names.names[j]);

			if (node == NULL)
				break;
			if (node->unreachable) {
				reader_complain(reader, word,
						"`%s` is unreachable already; name it once",
						node->name);
				break;
			}
			node->unreachable = true;
		}
		hostlist_fini(&names);
	}
}

/* Read one pair of words of a link. Returns whether it is valid. */
static bool link_pair(struct reader *reader, const struct word *what, const struct word *value,
		      struct cluster_link *link)
{
	bool bandwidth = strcmp(what->text, "bandwidth") == 0;
	struct error e;
	int result;

	if (!bandwidth && strcmp(what->text, "latency") != 0) {
		reader_complain(
			reader, what,
			"unknown `%.60s`; a link has `bandwidth 100Mbit` and `latency 70us`",
			what->text);
		return false;
	}
	if (value == NULL) {
		reader_complain(reader, what, "`%s` lacks its value; write it like `%s`",
				what->text, bandwidth ? "bandwidth 100Mbit" : "latency 70us");
		return false;
	}
	result = bandwidth ? quantity_bandwidth(value->text, &link->bits_per_s, &e)
			   : quantity_duration(value->text, 0, &link->latency_ns, &e);
	if (result < 0)
		reader_complain(reader, value, "%s", e.text);
	return result == 0;
}

bool link_words(struct reader *reader, const struct statement *statement, size_t first,
		struct cluster_link *link)
{
	struct cluster_link read = {0};

	for (size_t i = first; i < statement->n_words; i += 2) {
		const struct word *what = &statement->words[i];

		if (!link_pair(reader, what, i + 1 < statement->n_words ? what + 1 : NULL, &read))
			return false;
	}
	*link = read;
	return true;
}

void named_link_resolve(struct reader *reader, struct cluster *cluster,
			const struct statement *statement)
{
	struct cluster_map *map = reader_cluster_map(reader);
	struct cluster_link link;

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
