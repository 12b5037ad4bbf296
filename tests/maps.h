/* SPDX-License-Identifier: BSD-3-Clause */
/* Pathmaps for tests: from texts in memory, and what must be true of every plan. */
#ifndef EVSPACE_TESTS_MAPS_H
#define EVSPACE_TESTS_MAPS_H

#include <stddef.h>

#include "pathmap/model/pathmap.h"
#include "pathmap/plan/plan.h"

/** The text of a map, which need not end with a zero. */
struct map_text {
	const char *text;
	size_t length;
};

/**
 * Make a pathmap of the texts of its application, cluster and mapping map. What is wrong is written
 * to @diagnostics, which may be NULL. Returns NULL then.
 */
struct pathmap *maps_make(const struct map_text texts[3], pathmap_stage_check *check,
			  FILE *diagnostics);

/** The same of texts that end with a zero, without a check of stages. */
struct pathmap *maps_make_of(const char *application, const char *cluster, const char *mapping,
			     FILE *diagnostics);

/**
 * Is the plan a tree from the entry down in which every host is once, numbered in preorder, nobody
 * is asked in vain, and every leaf's tuples pass every stage of the view exactly once? Returns 0,
 * or -1 with the reason in @e.
 */
int plan_verify(const struct plan *plan, const struct pathmap *map, struct error *e);

#endif
