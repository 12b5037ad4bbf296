/* SPDX-License-Identifier: BSD-3-Clause */
/* Tallies: modes and counts of classes of operations, as a table and as JSON. */
#ifndef EVSPACE_TALLY_H
#define EVSPACE_TALLY_H

#include <jansson.h>
#include <stdio.h>

#include "consumers/client/evspace-control.h"
#include "node-agent/source/accounting.h"
#include "tree/scope/classes.h"

/** Add one of an agent's answer. All of groups that this release does not know are one, "?". */
void tally_add(struct classes *classes, const struct evspace_collected *collected);

/** Most classes in a table, unless all are asked for. */
#define TALLY_MOST 20

/**
 * Print a line for each class that was used or is not traced, with @indent before each; at most
 * @most lines (0: all), for those with the most calls, and @how to see the others. Prints nothing
 * if there are none.
 */
void tally_print(struct classes *classes, const char *indent, size_t most, const char *how,
		 FILE *out);

/** Print a line about what became of the recorded tuples; nothing if there are none. */
void tally_print_fate(const struct accounting *accounting, const char *indent, FILE *out);

/** The same as members of an object: written = held + overwritten + discarded + lost. */
void tally_fate_json(const struct accounting *accounting, json_t *object);

/** The same classes, as an array of objects. */
json_t *tally_json(struct classes *classes);

/** One class as an object. */
json_t *tally_class_json(const struct class_sum *sum);

/** Is it worth a line: used, or not traced? */
bool tally_shows(const struct class_sum *sum);

#endif
