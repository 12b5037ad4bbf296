/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the files that read cluster.map. */
#ifndef EVSPACE_CLUSTER_READ_H
#define EVSPACE_CLUSTER_READ_H

#include "pathmap/model/cluster.h"
#include "pathmap/grammar/directive.h"
#include "pathmap/model/hostlist.h"

/** Add a cluster, or if @name is NULL a block of nodes outside clusters. The map owns it. */
struct cluster *cluster_new(struct cluster_map *map, const char *name);

/** Add a node to the map and the cluster or block. The name must be new. The map owns it. */
struct node *cluster_node_new(struct cluster_map *map, struct cluster *cluster, const char *name,
			      size_t offset);

/** Set the address of a node that has none; @offset is its place in the map. Returns NULL, or
 * the node that already has this address (then nothing changes). */
struct node *node_address_set(struct cluster_map *map, struct node *node, const char *address,
			      size_t offset);

/** The cluster with this name, or NULL. */
struct cluster *cluster_map_cluster(const struct cluster_map *map, const char *name);

/** Resolves one statement of the block @cluster after all nodes are read. The map is
 * reader_cluster_map(). */
typedef void cluster_resolve(struct reader *reader, struct cluster *cluster,
			     const struct statement *statement);

/** A statement to resolve later, since it may name nodes that come later in the file. */
struct pending {
	cluster_resolve *resolve;
	struct cluster *cluster;
	const struct statement *statement;
};

/** The map being made, and the statements to resolve at the end: reader->map. */
struct cluster_reading {
	struct cluster_map *map;
	struct pending *pending;
	size_t n_pending;
};

/** `address [NODES] ADDRESSES;` */
cluster_resolve address_resolve;
/** `gateway NODE;` */
cluster_resolve gateway_resolve;
/** `unreachable NODES ...;` */
cluster_resolve unreachable_resolve;
/** `link FROM TO bandwidth Q latency Q;` */
cluster_resolve named_link_resolve;

/** `host HOSTS ...;` of a deployment */
cluster_resolve deploy_host_resolve;

/** `deploy ENGINE`, without its block. */
cluster_resolve deploy_read;

/** `user NAME;`, `port N;`, `binary PATH;`, `folder PATH;`, `stages PATH;` of the deployment of the
 * cluster @target. */
void deploy_user_read(struct reader *reader, void *target, const struct statement *statement);
void deploy_port_read(struct reader *reader, void *target, const struct statement *statement);
void deploy_binary_read(struct reader *reader, void *target, const struct statement *statement);
void deploy_folder_read(struct reader *reader, void *target, const struct statement *statement);
void deploy_stages_read(struct reader *reader, void *target, const struct statement *statement);

/** The map being read. */
struct cluster_map *reader_cluster_map(const struct reader *reader);

/** Expand one word into @list. Returns whether it is valid; else there is a diagnostic. */
bool word_expand(struct reader *reader, const struct word *word, struct hostlist *list);

/** Read `bandwidth Q latency Q` (one of them is enough) from word @first on. */
bool link_words(struct reader *reader, const struct statement *statement, size_t first,
		struct cluster_link *link);

/** Report gateways that are reached through themselves, or through too many others. */
void gateways_check(struct reader *reader);

#endif
