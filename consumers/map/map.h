/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the parts of evspace map and the doctor: costs, predictions, changes. */
#ifndef EVSPACE_MAP_H
#define EVSPACE_MAP_H

#include <stdio.h>

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "consumers/client/evspace-client.h"
#include "pathmap/base/error.h"
#include "pathmap/cost/cost.h"
#include "pathmap/plan/difference.h"

/** Read costs from the user's file, else take the built-in ones. Reports a file that is not
 * valid. calibration_fini() frees. */
void map_calibration(struct calibration *c);

/** Print rates, the busiest hosts, and the links that carry the most. */
void map_cost_print(const struct cost *cost, FILE *out);

/** The same for all hosts, as an object that the caller owns. */
json_t *map_cost_json(const struct cost *cost);

/** Print what is collected, and all else that does not depend on views. */
void map_say(const struct pathmap *map, bool json);

/** Print the mappings of @view that may be better. Returns the exit code. */
int map_suggest(const struct pathmap *map, const char *view, unsigned window, bool json);

/**
 * Measure everything in @c, in about three seconds: messages between two processes over a socket
 * pair, AES-GCM, copying, reading elements, a reduction; then what calibrate_tree() does. Returns
 * 0, or -1 with @e (no process, no memory, no loopback interface).
 */
int calibrate_all(struct calibration *c, const char *program, struct error *e);

/** Start sixteen agents on this host as one tree, with TLS, and make frame_us and latency_us of
 * @c, whose other costs are set, what predicts their waves; find what waves cost more when others
 * use the caches. All of it is taken away again. */
int calibrate_tree(struct calibration *c, const char *program, struct error *e);

/** Run the command whose words are from "diff", "apply" or "rollback" on. Returns its exit code. */
int map_change_main(int argc, char **argv);

/** The differences so far. Zero-initialise; map_fold_fini() frees. */
struct map_fold {
	struct map_fold_line *lines; /* by their text */
};

/** Add one. */
void map_fold_take(struct map_fold *fold, const struct difference *d);

/** Print all differences once; those that are the same for several hosts, channels or views share a
 * line. @n_views is the number of all views that both maps have. Unless @verbose, print only the
 * first ones of each kind, with the number of others and what they are about. */
void map_fold_print(struct map_fold *fold, size_t n_views, bool verbose, FILE *out);

/** Free what @fold holds. */
void map_fold_fini(struct map_fold *fold);

#endif
