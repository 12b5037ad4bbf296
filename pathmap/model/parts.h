/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a pathmap, for the files that make it and generate plans; the ranks of each node. */
#ifndef EVSPACE_PARTS_H
#define EVSPACE_PARTS_H

#include <stddef.h>

#include "pathmap/model/application.h"
#include "pathmap/model/cluster.h"
#include "pathmap/model/mapping.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/grammar/mapfile.h"

/** The three files, in reading order. */
enum { SOURCE_APPLICATION, SOURCE_CLUSTER, SOURCE_MAPPING, SOURCE_COUNT };

struct pathmap {
	struct application application;
	struct cluster_map clusters;
	struct mapping mapping;
	const char **node_names;
	const char **view_names;
};

/** Make a pathmap of three texts. Faults become diagnostics. Returns NULL if there were any; the
 * sources stay the caller's. */
struct pathmap *pathmap_make(const struct mapfile sources[SOURCE_COUNT], pathmap_stage_check *check,
			     struct diagnostics *diagnostics);

/** Ranks sorted by node; those of node i are first[i] to first[i + 1] - 1. */
struct placement {
	unsigned *ranks;
	size_t *first;
};

/** Sort the ranks of @map by node. */
void placement_init(struct placement *placement, const struct pathmap *map);

/** Free what it owns. */
void placement_fini(struct placement *placement);

/** The ranks of the node as a list ("0-7,12", "all", or "" for none), for the caller to free(). */
char *placement_text(const struct placement *placement, const struct pathmap *map,
		     const struct node *node);

#endif
