/* SPDX-License-Identifier: BSD-3-Clause */
/* The cluster map: clusters and their nodes, gateways, addresses, and the links between them. */
#ifndef EVSPACE_CLUSTER_H
#define EVSPACE_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/hash.h"
#include "pathmap/grammar/mapfile.h"
#include "pathmap/model/deployment.h"

/** The capacity of a connection; 0: not in the map. */
struct cluster_link {
	double bits_per_s;
	uint64_t latency_ns;
};

/** Most nodes of all clusters together. */
#define NODES_MAX 65536

/** Most clusters of a map. */
#define CLUSTERS_MAX 1024

/** Most gateways on the path to a node. */
#define GATEWAYS_MAX 8

struct cluster;

/** One host, or one of several agents on a host. */
struct node {
	char *name;
	char *address;		 /* "host:port", or "" */
	struct cluster *cluster; /* NULL outside clusters */
	struct node
		*gateway; /* through which it is reached, NULL: directly or through its cluster's */
	size_t gateway_offset; /* of that statement in the map */
	bool unreachable;      /* only nodes of its cluster can connect to it */
	size_t index;	       /* in the order of the map */
	size_t offset;	       /* of its first mention */
	size_t address_offset;
	struct cluster_link link;	     /* to it, if its own block has one */
	char *host;			     /* for ssh, NULL: that of its address */
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

/** A link between two nodes or clusters, by name. */
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
	bool incomplete; /* there were faults, so unknown names may be their consequence */
};

/** Make a cluster map of the text in @source. Faults become diagnostics. */
void cluster_map_read(struct cluster_map *map, const struct mapfile *source,
		      struct diagnostics *diagnostics);

/** Make a cluster map with a single node @node in a single cluster @cluster. */
void cluster_map_init(struct cluster_map *map, const char *cluster, const char *node);

/** Free what it owns. */
void cluster_map_fini(struct cluster_map *map);

/** The node with this name, or NULL. */
struct node *cluster_map_node(const struct cluster_map *map, const char *name);

/** The names of all nodes, in the order of the map; the caller must free the array. */
const char **cluster_map_names(const struct cluster_map *map);

/** The gateway through which @node is reached from outside, or NULL. */
struct node *node_gateway(const struct node *node);

/** The link by which @parent reaches @child; 0 for what the map does not say. */
struct cluster_link cluster_map_link(const struct cluster_map *map, const struct node *parent,
				     const struct node *child);

/** The link as text ("100 Mbit/s, 70 us" with ", " @between, or ""), for the caller to free(). */
char *link_text(struct cluster_link link, const char *between);

#endif
