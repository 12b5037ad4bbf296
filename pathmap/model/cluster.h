/* SPDX-License-Identifier: BSD-3-Clause */
/* The cluster map: clusters and their nodes, gateways, addresses, and the links between them. */
#ifndef EVSPACE_CLUSTER_H
#define EVSPACE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/hash.h"
#include "pathmap/grammar/mapfile.h"
#include "pathmap/model/deployment.h"

/** What a connection can do; 0 where the map does not say. */
struct cluster_link {
	double bits_per_s;
	uint64_t latency_ns;
};

/** Nodes of all clusters together. */
#define NODES_MAX 65536

/** Clusters in one map. */
#define CLUSTERS_MAX 1024

/** Gateways on the way to one node. */
#define GATEWAYS_MAX 8

struct cluster;

/** One host, or one of several agents on a host. */
struct node {
	char *name;
	char *address;		 /* "host:port", or "" */
	struct cluster *cluster; /* NULL outside clusters */
	struct node *gateway;	 /* through which it is reached, NULL: directly or as its cluster */
	size_t gateway_offset;	 /* where the map says so */
	bool unreachable;	 /* only nodes of its cluster can connect to it */
	size_t index;		 /* in the order of the map */
	size_t offset;		 /* where it is named first */
	size_t address_offset;
	struct cluster_link link; /* to it, when its own block says so */
	char *host;		  /* that it is reached at by ssh, NULL: that of its address */
	const struct deployment *deployment; /* of its cluster or block */
	UT_hash_handle hh, hh_address;
};

/** Nodes that belong together, or, without a name, those of one `node` block. */
struct cluster {
	char *name;
	struct node **nodes;
	size_t n_nodes;
	struct node *gateway;
	struct cluster_link link; /* inside, and between gateway and nodes */
	struct deployment deployment;
	size_t index;
	size_t offset;
};

/** A link that the map draws between two nodes or clusters, by name. */
struct named_link {
	char *from, *to;
	struct cluster_link link;
};

struct cluster_map {
	struct node **nodes;
	size_t n_nodes;
	struct node *by_name;
	struct node *by_address;
	struct cluster **clusters;
	size_t n_clusters;
	struct cluster **blocks; /* the nameless ones */
	size_t n_blocks;
	struct named_link *links;
	size_t n_links;
	bool incomplete; /* something was wrong: unknown names may be a consequence of that */
};

/** Make a cluster map of the text in @source; what is wrong is complained of. */
void cluster_map_read(struct cluster_map *map, const struct mapfile *source,
		      struct diagnostics *diagnostics);

/** Make one with the one node @node in the one cluster @cluster. */
void cluster_map_init(struct cluster_map *map, const char *cluster, const char *node);

/** Free what it owns. */
void cluster_map_fini(struct cluster_map *map);

/** The node with this name, or NULL. */
struct node *cluster_map_node(const struct cluster_map *map, const char *name);

/** The names of all nodes, in the order of the map; the array is the caller's to free. */
const char **cluster_map_names(const struct cluster_map *map);

/** The gateway through which @node is reached from outside, or NULL. */
struct node *node_gateway(const struct node *node);

/** What the map says of the link that @parent reaches @child by; zeros where it says nothing. */
struct cluster_link cluster_map_link(const struct cluster_map *map, const struct node *parent,
				     const struct node *child);

/**
 * What is known of a link ("100 Mbit/s, 70 us" with ", " @between, or ""), the caller's to free().
 */
char *link_text(struct cluster_link link, const char *between);

#endif
