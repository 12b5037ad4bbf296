/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan: the gather tree of one view, and the host of each stage. */
#ifndef EVSPACE_PLAN_H
#define EVSPACE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pathmap/base/error.h"
#include "pathmap/model/definition.h"
#include "pathmap/model/view.h"

struct pathmap;

/** The pass that the entry agent has signed for a node, opaque here (tree/link/pass.h). NULL:
 * none. */
struct plan_pass {
	unsigned char *data;
	size_t bytes;
};

/** A host that runs a place's part while the place's own host is away. */
struct plan_alternate {
	char *node, *address;
	struct plan_pass pass;
};

/** Indexes of places are below this; those of their alternates are higher by this. */
#define PLAN_PLACES 8192u

/**
 * One host's part of a view. Local stages (of element, thread and node level, unless the mapping
 * puts them higher) work on the host's own elements; joined stages work on what the gather joined
 * from these and the children.
 */
struct plan_place {
	uint32_t index; /* in the plan, root 0; a node keeps it when the map changes */
	char *node;	/* the node's name, unique in the pathmap */
	char *cluster;	/* its cluster, "" for a node outside all clusters */
	char *address;	/* "host:port" where its agent listens, "" if none */
	bool leaf;	/* it holds elements of the program */
	bool own;	/* all of these are its own: it fetches none from others */
	struct plan_stage *local;
	size_t n_local;
	struct plan_stage *joined;
	size_t n_joined;
	bool early; /* its joined stage runs above, too, where more is joined */
	struct plan_place **children;
	size_t n_children;
	/* in the order of trying; the last is the parent's own host, if allowed */
	struct plan_alternate *alternates;
	size_t n_alternates;
	bool placed;	      /* the mapping lists which ranks are here: */
	char *holds;	      /* "0-7,12"; "": none */
	unsigned concurrency; /* children asked at once for a wave, 0: all */
	bool gateway;	      /* only it and its alternates may connect to its children */
	char *elsewhere; /* ranks that another map puts on other nodes: "0-3@b1;7-7@b2"; NULL, "":
			    none */
	struct plan_pass pass;
};

/** The whole gather tree of a view. Owns everything that it points to, but for @of. */
struct plan {
	char *view;	       /* with "@LEVEL" if only up to that level */
	const struct view *of; /* that view: of the map, or: */
	enum level top;	       /* of its stages that run */
	struct view *defined;  /* what its consumer has defined; NULL: it is of the map */
	enum reading reading;
	char **select; /* patterns: an element is read if one matches its name */
	size_t n_select;
	struct plan_place *root;
	size_t n_places;
};

/**
 * Generate the plan of @view from @map, by the paper's path generate functions (section 4): threads
 * to nodes by the mapping, nodes to clusters and gateways by the cluster map, stages by the view.
 * Into a cluster with a gateway only the gateway has children. "VIEW@LEVEL" is the view with its
 * stages up to this level only. On success the caller must free *@plan. Returns 0, or -1 with the
 * reason in @e (an unknown view: the names of all views).
 */
int plan_make(const struct pathmap *map, const char *view, struct plan **plan, struct error *e);

/** What is planned, for whom. Zero and NULL: the default. */
struct plan_wish {
	const char *view; /* "NAME" or "NAME@LEVEL" */
	struct definition
		definition; /* instead of that view's, of which "@LEVEL" alone counts then */
	bool monitors;	    /* of the monitors of the tree's hosts: all are leaves */
	const char *tree, *concurrency; /* "fanout 8", "all", which the map must allow; "" */
};

/** The same by a wish. A definition is checked against what the map allows, but for who may define
 * (EACCES if nobody may). */
int plan_make_wish(const struct pathmap *map, const struct plan_wish *wish, struct plan **plan,
		   struct error *e);

/** Free a plan. NULL is fine. */
void plan_free(struct plan *plan);

/** More levels than a tree has: gateways in a row, and a fan-out of two within a cluster. */
#define PLAN_DEPTH 64

/** An iterator over a tree, each place before those below it. */
struct plan_walk {
	struct plan_place *place;	 /* the current one, NULL: the end */
	const struct plan_place *parent; /* NULL: at the root */
	size_t depth;			 /* of the root 0 */
	size_t passed[PLAN_DEPTH];	 /* by depth: children done */
	struct plan_place *way[PLAN_DEPTH];
};

/** Begin with @root: PLAN_FOREACH (walk, root) { ... walk.place ... }. */
struct plan_walk plan_walk_begin(const struct plan_place *root);
void plan_walk_next(struct plan_walk *walk);

#define PLAN_FOREACH(walk, root) \
	for (struct plan_walk walk = plan_walk_begin(root); (walk).place; plan_walk_next(&(walk)))

/** The number of places below @place, with it, and of leaves among them. */
struct plan_size {
	size_t places, leaves;
};

struct plan_size plan_size(const struct plan_place *place);

/** The place with this index, or NULL. */
struct plan_place *plan_place(const struct plan *plan, uint32_t index);

/**
 * The path on which the agent of node @from fetches from that of @to: @from's place, below it those
 * of gateways, and last the leaf of @to. NULL when @to holds no ranks, or is @from. The caller must
 * free it by plan_way_free().
 */
struct plan_place *plan_way(const struct pathmap *map, const char *from, const char *to);
void plan_way_free(struct plan_place *way);

/** All nodes of the map as places without stages: below the entry each node, or below its
 * gateway. The caller must free it by plan_way_free(). */
struct plan_place *plan_all(const struct pathmap *map);

/** Print every generated path to @out: its stages with their hosts. */
void plan_print(const struct plan *plan, const struct pathmap *map, FILE *out);

/** Print the tree as a graph in Graphviz's dot language to @out. */
void plan_dot(const struct plan *plan, const struct pathmap *map, FILE *out);

#endif
