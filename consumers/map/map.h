/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of evspace map and the doctor share: costs, predictions, changes. */
#ifndef EVSPACE_MAP_H
#define EVSPACE_MAP_H

#include <stdio.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "pathmap/cost/cost.h"
#include "pathmap/cost/calibration.h"
#include "pathmap/base/error.h"
#include "pathmap/plan/difference.h"

/** What things cost by the user's file, else what is built in. A file that is wrong is said. */
void map_calibration(struct calibration *c);

/** Print rates, the busiest hosts and the links that carry the most. */
void map_cost_print(const struct cost *cost, const struct calibration *c, FILE *out);

/** The same of all hosts, as the caller's object. */
json_t *map_cost_json(const struct cost *cost, const struct calibration *c);

/** An amount for people, "640 us", "14 kB"; the caller's to free(). */
char *map_amount(double value, const char *unit);

/** Print the mappings of @view that are worth a thought. Returns the exit code. (map-suggest.c) */
int map_suggest(const struct pathmap *map, const char *view, unsigned window, bool json);

/**
 * Measure everything in @c, in about a second, of which most is CPU time: messages between two
 * processes over a socket pair, AES-GCM, copying, reading elements, a reduction. Returns 0, or -1
 * with
 * @e (no process or no memory could be had).
 */
int calibrate_all(struct calibration *c, struct error *e);

/** Runs the command whose words are from "diff", "apply" or "rollback" on. Returns its exit code.
 */
int map_change_main(int argc, char **argv);

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
