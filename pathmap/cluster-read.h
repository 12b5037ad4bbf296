/* SPDX-License-Identifier: BSD-3-Clause */
/* What reading a cluster map needs of the map's insides. */
#ifndef EVSPACE_CLUSTER_READ_H
#define EVSPACE_CLUSTER_READ_H

#include "pathmap/cluster.h"

/** Add a cluster, or with @name NULL a block of nodes outside clusters. The map owns it. */
struct cluster *cluster_new(struct cluster_map *map, const char *name);

/** Add a node to the map and the cluster or block. The name must be new. The map owns it. */
struct node *cluster_node_new(struct cluster_map *map, struct cluster *cluster, const char *name,
			      size_t offset);

/** The cluster with this name, or NULL. */
struct cluster *cluster_map_cluster(const struct cluster_map *map, const char *name);

#endif
