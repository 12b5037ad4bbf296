/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping: which ranks are on which nodes, where the entry is, and the shape of each view's
 * tree. */
#ifndef EVSPACE_MAPPING_H
#define EVSPACE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/application.h"
#include "pathmap/model/cluster.h"
#include "pathmap/model/shape.h"
#include "pathmap/model/steering.h"
#include "pathmap/grammar/mapfile.h"

/** A node's place in a tree drawn by hand. */
struct drawn {
	bool there;
	const struct node *parent; /* NULL: the entry */
	size_t offset;
};

/** A node that runs another one's part while that one is away. */
struct alternate {
	const struct node *by, *instead_of;
};

/** The shape of the tree of a view, or the default of all views, and how it is run. */
struct tree {
	bool said; /* the map has `tree`; else the default */
	enum tree_kind kind;
	unsigned fanout;
	bool ignoring_gateways;
	struct drawn *drawn;	   /* by node index; NULL unless drawn by hand */
	const struct node **heads; /* nodes that join their cluster */
	size_t n_heads;
	struct alternate *alternates; /* in the order of trying */
	size_t n_alternates;
	bool concurrency_said;
	unsigned concurrency;	 /* children asked at once for one wave, 0: all */
	uint8_t at[LEVEL_COUNT]; /* by level: the level whose host runs its stages, 0: not given */
	size_t offset;		 /* of `tree` in the map */
};

struct view_tree {
	char *view;
	struct tree tree;
};

struct mapping {
	const struct node *entry;
	size_t entry_line;	       /* in the file, 0: not from a file */
	const struct node *everywhere; /* the node that holds all ranks, or NULL */
	bool places;		       /* it has `place` */
	const struct node **ranks;     /* node of each, NULL: none */
	size_t n_ranks;
	struct tree tree; /* of views without their own */
	struct view_tree *views;
	size_t n_views;
	struct steering *steerings; /* the first that is for a call counts */
	size_t n_steerings;
};

/** Make a mapping of the text in @source onto @clusters for @application. Faults, also
 * contradictions to these, become diagnostics. */
void mapping_read(struct mapping *mapping, const struct mapfile *source,
		  const struct application *application, const struct cluster_map *clusters,
		  struct diagnostics *diagnostics);

/** Free what it owns. */
void mapping_fini(struct mapping *mapping);

/** The node of the rank, or NULL. */
const struct node *mapping_rank_node(const struct mapping *mapping, unsigned rank);

/** The shape of the view's tree. */
const struct tree *mapping_tree(const struct mapping *mapping, const char *view);

/** The level whose host runs the view's stages of @level: LEVEL_NODE is the leaf, LEVEL_CLUSTER
 * the host that joins a cluster, LEVEL_ALL the entry. Stages never run below earlier ones. */
enum level mapping_stage_place(const struct mapping *mapping, const char *view, enum level level);

/** Children asked at once for a wave of the view, 0: all. */
unsigned mapping_concurrency(const struct mapping *mapping, const char *view);

/** The @i-th node that runs @node's part of the view while @node is away, or NULL. */
const struct node *mapping_alternate(const struct mapping *mapping, const char *view,
				     const struct node *node, size_t i);

/** The node that joins the cluster in the view's tree, or NULL when the map does not say. */
const struct node *mapping_head(const struct mapping *mapping, const char *view,
				const struct cluster *cluster);

#endif
