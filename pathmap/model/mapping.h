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
#include "pathmap/grammar/mapfile.h"

/** Children that one place may have by `fanout`. */
#define FANOUT_MAX 4096u

/** The shapes of trees. */
enum tree_kind { TREE_BY_CLUSTER, TREE_FLAT, TREE_FANOUT, TREE_BY_HAND };

/** A node's place in a tree drawn by hand. */
struct drawn {
	bool there;
	const struct node *parent; /* NULL: the entry */
	size_t offset;
};

/** A node that runs another one's part while that is away. */
struct alternate {
	const struct node *by, *instead_of;
};

/** The shape of the tree of one view, or of all that do not say, and how it is run. */
struct tree {
	bool said; /* the map has a `tree` for it; else it is the default */
	enum tree_kind kind;
	unsigned fanout;
	bool ignoring_gateways;
	struct drawn *drawn;	   /* by node index; NULL unless drawn by hand */
	const struct node **heads; /* nodes that their cluster is to be joined on */
	size_t n_heads;
	struct alternate *alternates; /* in the order in which they are tried */
	size_t n_alternates;
	bool concurrency_said;
	unsigned concurrency;	 /* children asked at once for one wave, 0: all */
	uint8_t at[LEVEL_COUNT]; /* the level whose host runs this one's stages, 0: not said */
	size_t offset;		 /* of its statement */
};

struct view_tree {
	char *view;
	struct tree tree;
};

struct mapping {
	const struct node *entry;
	size_t entry_line;	       /* of the file, 0: it is not from one */
	const struct node *everywhere; /* the node that holds all ranks, or NULL */
	bool places;		       /* it says where ranks are */
	const struct node **ranks;     /* where each is, NULL: nowhere */
	size_t n_ranks;
	struct tree tree; /* of views that have none of their own */
	struct view_tree *views;
	size_t n_views;
};

/**
 * Make a mapping of the text in @source onto @clusters for @application; what is wrong, by itself
 * or with these, is complained of.
 */
void mapping_read(struct mapping *mapping, const struct mapfile *source,
		  const struct application *application, const struct cluster_map *clusters,
		  struct diagnostics *diagnostics);

/** Free what it owns. */
void mapping_fini(struct mapping *mapping);

/** The node that the rank is on, or NULL: nowhere. */
const struct node *mapping_rank_node(const struct mapping *mapping, unsigned rank);

/** The shape of the view's tree. */
const struct tree *mapping_tree(const struct mapping *mapping, const char *view);

/**
 * The level on whose host the view's stages of @level run: LEVEL_NODE on the leaf, LEVEL_CLUSTER
 * where a cluster comes together, LEVEL_ALL on the entry. Stages never run below those before them.
 */
enum level mapping_stage_place(const struct mapping *mapping, const char *view, enum level level);

/** How many children are asked at once for one wave of the view, 0: all. */
unsigned mapping_concurrency(const struct mapping *mapping, const char *view);

/** The @i-th node that runs @node's part of the view while that is away, or NULL. */
const struct node *mapping_alternate(const struct mapping *mapping, const char *view,
				     const struct node *node, size_t i);

/** The node that the view's tree is to join the cluster on, or NULL when the map does not say. */
const struct node *mapping_head(const struct mapping *mapping, const char *view,
				const struct cluster *cluster);

#endif
