/* SPDX-License-Identifier: BSD-3-Clause */
/* The shapes of trees, as maps and consumers name them. */
#ifndef EVSPACE_SHAPE_H
#define EVSPACE_SHAPE_H

#include "pathmap/base/error.h"

/** Most children of a place with `fanout`, or asked at once. */
#define FANOUT_MAX 4096u

/** The shapes of trees. */
enum tree_kind { TREE_BY_CLUSTER, TREE_FLAT, TREE_FANOUT, TREE_BY_HAND, TREE_KINDS };

/** Their keywords; those before TREE_BY_HAND can be named by consumers, too. */
extern const char *const tree_kinds[TREE_KINDS];

/** A shape that a consumer names. */
struct shape {
	enum tree_kind kind;
	unsigned fanout;
};

/** Read "by-cluster", "flat" or "fanout 8". Returns 0, or -1 with @e, which says what is right. */
int shape_read(const char *text, struct shape *shape, struct error *e);

/** Read how many children are asked at once: "sequential", "8", or "all", which is 0. Returns 0, or
 * -1 with @e. */
int shape_concurrency(const char *text, unsigned *concurrency, struct error *e);

#endif
