/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a batch whose runs a stage mixes: their counts, and one clock for all; folded into
 * one part where that is wanted. */
#ifndef EVSPACE_PART_H
#define EVSPACE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/data/batch.h"
#include "tree/data/leaves.h"

/** A part with the header of its run. */
struct part_item {
	struct run run;
	struct part part;
	uint64_t sampled;	/* out; of part.filtered */
	uint32_t leaves, worst; /* of a folded one: how many records of these it has */
};

/** Parts in order of coming. Plain data, usable when zeroed; the tables are kept from wave to
 * wave. */
struct parts {
	struct part_item *items;
	size_t n, room;
	size_t leaves;		/* parts that are not marks */
	bool mixed;		/* clocks differ: all times must become nanoseconds */
	struct clock_line line; /* of all parts if not mixed */
	struct batch more;	/* leaves and worst of the folded ones, in order */
	struct leaf_ranges joined;
};

/** The place and wave that parts are emitted for. */
struct parts_place {
	uint32_t index;
	uint64_t wave;
	bool folds; /* they become one, if that can be */
	bool bare;  /* the place is no leaf, so that it may be in a range of leaves */
};

/** Begin a new wave. */
void parts_reset(struct parts *parts);
void parts_fini(struct parts *parts);

/** Add the part in @view as items[n - 1]. Returns 1 if its clock is the first that differs: times
 * from earlier parts (all on parts->line) must then be converted to nanoseconds. */
int parts_add(struct parts *parts, const struct run_view *view);

/** Add what follows a folded part. Returns whether the run in @view is that. */
bool parts_more(struct parts *parts, const struct run_view *view);

/**
 * Append the parts to @b and, if the runs after them are not from a single leaf, the mark of @place
 * (see struct part), with the counts of marks that it replaces; or, instead of all this, one folded
 * part. Parts of another wave, with a leaf in common, or with counts that do
 * not add up are not folded. Times after it are
 * nanoseconds if parts->mixed.
 */
void parts_emit(struct parts *parts, const struct parts_place *place, struct batch *b);

#endif
