/* SPDX-License-Identifier: BSD-3-Clause */
/* Which collective operations are steered, and the tree of ranks that each of them runs over: what
 * EVSPACE_STEER says, and the part of a tree that a communicator's members are. No MPI. */
#ifndef EVSPACE_STEER_TREE_H
#define EVSPACE_STEER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/model/steering.h"

/** Most levels of a tree: more than a map's own (PLAN_DEPTH), as the ranks of a host are another.
 */
#define STEER_DEPTH_MAX 80u

/** A tree of world ranks, in preorder. It may have several roots, which then meet as equals. */
struct steer_tree {
	uint32_t n;	 /* ranks in it */
	int32_t *ranks;	 /* in preorder */
	int32_t *parent; /* index of each one's parent in the preorder; -1: a root */
};

/** A rule: these operations, of such size, run over this tree. */
struct steer_rule {
	uint32_t kinds;	     /* bits of enum steer_kind */
	bool world;	     /* on MPI_COMM_WORLD only */
	bool in_order;	     /* reductions in the order of ranks, whatever the tree */
	uint32_t collected;  /* what is recorded: bits of enum steer_stage */
	uint64_t most_bytes; /* of a call; UINT64_MAX: any */
	struct steer_tree tree;
};

struct steer_rules {
	unsigned n;
	struct steer_rule items[STEER_RULES_MAX];
};

/**
 * Read rules with `;` between them, each KINDS WORLD BYTES ORDER STAGES=TREE without blanks. KINDS
 * are "barrier,bcast"; WORLD is an at sign and "world", or nothing; BYTES "<=4096" or nothing;
 * ORDER "!" (in_order) or nothing; STAGES "+ars" (recorded: arrivals, reductions, sends), or
 * nothing for arrivals alone. TREE is roots with `|` between them; a rank with what is below it is
 * "0(1-3,4(5,6))". Returns false if the text is not valid: then there are no rules. Free with
 * steer_rules_fini().
 */
bool steer_rules_read(struct steer_rules *rules, const char *text);
void steer_rules_fini(struct steer_rules *rules);

/**
 * A tree of a communicator's members, by their ranks in it. Whoever is not a member is left out;
 * the first member below it takes its place. Roots other than the first are children of that, last
 * of all.
 */
struct steer_route {
	int32_t n, me;
	int32_t n_roots;
	int32_t *parent;   /* -1: the first root */
	int32_t *order;	   /* preorder */
	int32_t *at;	   /* position of each in it */
	int32_t *size;	   /* members of its subtree, with it: positions [at, at + size) */
	int32_t *roots;	   /* the first of all first */
	int32_t *children; /* mine, in order */
	int32_t n_children;
	int32_t n_own; /* children that are no roots: the first of these */
};

/** Make the route of @me among members of world ranks @world[0, n). Returns 1, 0 if one of them is
 * not in the tree, or -1 if there is no memory; then there is nothing to free. */
int steer_route_make(struct steer_route *route, const struct steer_tree *tree, const int32_t *world,
		     int32_t n, int32_t me);
void steer_route_fini(struct steer_route *route);

/** My neighbour on the way to @root; -1: it is me. Members of other subtrees are beyond it. */
int32_t steer_route_up(const struct steer_route *route, int32_t root);

/** Members beyond a neighbour, as positions in preorder: one part, or two around my own subtree. */
struct steer_span {
	int32_t from[2], n[2];
};

struct steer_span steer_route_beyond(const struct steer_route *route, int32_t neighbour);

/** All members that are not beyond it. */
struct steer_span steer_route_hither(const struct steer_route *route, int32_t neighbour);

#endif
