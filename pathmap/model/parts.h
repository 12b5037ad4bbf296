/* SPDX-License-Identifier: BSD-3-Clause */
/* What a pathmap is made of, for the files of this folder that make it and generate plans. */
#ifndef EVSPACE_PARTS_H
#define EVSPACE_PARTS_H

#include "pathmap/model/application.h"
#include "pathmap/model/cluster.h"
#include "pathmap/model/mapping.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/grammar/diagnostic.h"

/** The three files, in the order that they are read in. */
enum { SOURCE_APPLICATION, SOURCE_CLUSTER, SOURCE_MAPPING, SOURCE_COUNT };

struct pathmap {
	struct application application;
	struct cluster_map clusters;
	struct mapping mapping;
	const char **node_names;
	const char **view_names;
};

/**
 * Make a pathmap of three texts. What is wrong is complained of. Returns NULL when anything was;
 * the sources stay the caller's.
 */
struct pathmap *pathmap_make(const struct mapfile sources[SOURCE_COUNT], pathmap_stage_check *check,
			     struct diagnostics *diagnostics);

#endif
