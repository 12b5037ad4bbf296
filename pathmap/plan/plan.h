/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan: the gather tree of one view, which stage runs on which host. */
#ifndef EVSPACE_PLAN_H
#define EVSPACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pathmap/base/error.h"
#include "pathmap/model/view.h"

struct pathmap;

/** What the entry agent has signed for a node, opaque here (tree/link/pass.h). NULL: nothing. */
struct plan_pass {
	unsigned char *data;
	size_t bytes;
};

/** A host that runs a place's part while the place's own is away. */
struct plan_alternate {
	char *node, *address;
	struct plan_pass pass;
};

/** Indices of places are below this; those of their stand-ins are so much higher. */
#define PLAN_PLACES 8192u

/**
 * What one host does for a view. Local stages (of element, thread and node level, unless the
 * mapping puts them higher) work on the host's own elements; joined stages work on what the gather
 * joined from them and the children.
 */
struct plan_place {
	uint32_t index; /* in the plan, root 0; the same for a node from map to map */
	char *node;	/* the node's name, unique in the pathmap */
	char *cluster;	/* its cluster, "" for a node outside all clusters */
	char *address;	/* "host:port" where its agent listens, "" when it has none */
	bool leaf;	/* it holds elements of the program */
	bool own;	/* … which all bear its name: it fetches none from others */
	struct plan_stage *local;
	size_t n_local;
	struct plan_stage *joined;
	size_t n_joined;
	struct plan_place **children;
	size_t n_children;
	/* In the order in which they are tried; then it is the parent's own host, if it may. */
	struct plan_alternate *alternates;
	size_t n_alternates;
	bool placed;	      /* the mapping says which ranks are here: */
	char *holds;	      /* "0-7,12"; "" when none */
	unsigned concurrency; /* children that are asked at once for one wave, 0: all */
	bool gateway;	      /* nobody but it and its alternates may connect to its children */
	char *elsewhere; /* ranks that another map puts on other nodes: "0-3@b1;7-7@b2"; NULL, "" */
	struct plan_pass pass;
};

/** The whole gather tree of a view. Owns everything that it points to. */
struct plan {
	char *view; /* with "@LEVEL" if it is only its part up to that level */
	enum reading reading;
	char **select; /* patterns over element names: an element is read if one matches */
	size_t n_select;
	struct plan_place *root;
	size_t n_places;
};

/**
 * Generate the plan of @view from @map, by the paper's path generate functions (section 4): threads
 * to nodes by the mapping, nodes to clusters and gateways by the cluster map, stages by the view.
 * Into a cluster with a gateway only the gateway has children. "VIEW@LEVEL" is the view with its
 * stages up to this level only. On success *@plan is the caller's to free. Returns 0, or -1 with
 * the reason in @e (unknown view: those that exist are named).
 */
int plan_make(const struct pathmap *map, const char *view, struct plan **plan, struct error *e);

/** The same for what the hosts of the view's tree record of themselves: all of them are leaves. */
int plan_make_monitors(const struct pathmap *map, const char *view, struct plan **plan,
		       struct error *e);

/** Free a plan. NULL is fine. */
void plan_free(struct plan *plan);

/** More levels than a tree has: gateways in a row, and a fan-out of two within a cluster. */
#define PLAN_DEPTH 64

/** A walk over a tree, each place before those below it. */
struct plan_walk {
	struct plan_place *place;	 /* that it has come to, NULL: there are no more */
	const struct plan_place *parent; /* NULL: it is the first */
	size_t depth;			 /* of the first 0 */
	size_t passed[PLAN_DEPTH];	 /* children of those on the way down */
	struct plan_place *way[PLAN_DEPTH];
};

/** Begin with @root: PLAN_FOREACH (walk, root) { ... walk.place ... }. */
struct plan_walk plan_walk_begin(const struct plan_place *root);
void plan_walk_next(struct plan_walk *walk);

#define PLAN_FOREACH(walk, root) \
	for (struct plan_walk walk = plan_walk_begin(root); (walk).place; plan_walk_next(&(walk)))

/** How many places there are, and how many of them are leaves. */
struct plan_size {
	size_t places, leaves;
};

/** That of @place with all below it. */
struct plan_size plan_size(const struct plan_place *place);

/** The place with this index, or NULL. */
struct plan_place *plan_place(const struct plan *plan, uint32_t index);

/**
 * The way from the agent of node @from to that of @to for what is fetched from it: @from's place,
 * below it those of gateways, at last @to's, a leaf. NULL when @to holds no ranks, or is @from. The
 * caller's to free with plan_way_free().
 */
struct plan_place *plan_way(const struct pathmap *map, const char *from, const char *to);
void plan_way_free(struct plan_place *way);

/**
 * All nodes of the map as places without stages: the entry, and below it each node, or below its
 * gateway. The caller's to free with plan_way_free().
 */
struct plan_place *plan_all(const struct pathmap *map);

/** Print every generated path, stage by stage with its host, to @out. */
void plan_print(const struct plan *plan, const struct pathmap *map, FILE *out);

/** Print the tree as a graph in Graphviz's dot language to @out. */
void plan_dot(const struct plan *plan, const struct pathmap *map, FILE *out);

#endif
