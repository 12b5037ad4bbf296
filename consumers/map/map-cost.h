/* SPDX-License-Identifier: BSD-3-Clause */
/* What is predicted of a view's tree, as text and as JSON. */
#ifndef EVSPACE_MAP_COST_H
#define EVSPACE_MAP_COST_H

#include <stdio.h>

#include <jansson.h>

#include "pathmap/cost/cost.h"

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

#endif
