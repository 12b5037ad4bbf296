/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a batch whose runs a stage mixes: their counts, and one clock for all. */
#ifndef EVSPACE_PART_H
#define EVSPACE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/batch.h"

/** A part with the header of its run. */
struct part_item {
	struct run run;
	struct part part;
};

/** Parts in order of coming. Plain data, usable when zeroed; the table is kept from wave to
 * wave. */
struct parts {
	struct part_item *items;
	size_t n, room;
	size_t leaves;		/* parts that are not marks */
	bool mixed;		/* clocks differ: all times must become nanoseconds */
	struct clock_line line; /* of all parts if not mixed */
};

/** Begin a new wave. */
void parts_reset(struct parts *parts);
void parts_fini(struct parts *parts);

/** Add the part in @view as items[n - 1]. Returns 1 if its clock is the first that differs: times
 * from earlier parts (all on parts->line) must then be converted to nanoseconds. */
int parts_add(struct parts *parts, const struct run_view *view);

/**
 * Append the parts to @b and, if the runs after them are not from a single leaf, the mark of @place
 * and @wave (see struct part), with the counts of marks that it replaces. Times after it are
 * nanoseconds if parts->mixed.
 */
void parts_emit(const struct parts *parts, uint32_t place, uint64_t wave, struct batch *b);

#endif
