/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between two maps for people: what is alike is said once. */
#ifndef EVSPACE_MAP_FOLD_H
#define EVSPACE_MAP_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pathmap/plan/difference.h"

/** What was taken so far. Zero-initialise; map_fold_fini() frees. */
struct map_fold {
	struct map_fold_line *lines; /* by their text */
};

/** Take one in. */
void map_fold_take(struct map_fold *fold, const struct difference *d);

/** Print, once, all that were taken, those of the same said of several hosts, channels or views in
 * a line; @n_views: that is all views that were and
 * stay. Unless @verbose, of each kind only the first ones, how many
 * there are besides and what they are about. */
void map_fold_print(struct map_fold *fold, size_t n_views, bool verbose, FILE *out);

/** Free what @fold holds. */
void map_fold_fini(struct map_fold *fold);

#endif
