/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterates over the places of a tree, and counts them. */
#include <stdint.h>
#include <stdlib.h>

#include "pathmap/plan/plan.h"

struct plan_walk plan_walk_begin(const struct plan_place *root)
{
	struct plan_walk walk;

	/* of `way` and `passed`, only the entries up to `depth` are read */
	walk.place = walk.way[0] = (struct plan_place *)(uintptr_t)root;
	walk.parent = NULL;
	walk.depth = walk.passed[0] = 0;
	return walk;
}

void plan_walk_next(struct plan_walk *walk)
{
	size_t depth = walk->depth;

	while (walk->passed[depth] == walk->way[depth]->n_children) {
		if (depth-- == 0) {
			walk->place = NULL;
			return;
		}
	}
	if (depth + 1 == PLAN_DEPTH)
		abort();
	walk->parent = walk->way[depth];
	walk->place = walk->parent->children[walk->passed[depth]++];
	walk->depth = depth + 1;
	walk->way[walk->depth] = walk->place;
	walk->passed[walk->depth] = 0;
}

struct plan_size plan_size(const struct plan_place *place)
{
	struct plan_size size = {0, 0};

	PLAN_FOREACH (walk, place) {
		size.places++;
		size.leaves += walk.place->leaf;
	}
	return size;
}
