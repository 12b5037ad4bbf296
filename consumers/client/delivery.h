/* SPDX-License-Identifier: BSD-3-Clause */
/* The delivery account: which waves of each leaf have come and which are owed, so that every tuple
 * counts once (docs/decisions/0004-leaves-remember.md). */
#ifndef EVSPACE_DELIVERY_H
#define EVSPACE_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consumers/client/intervals.h"
#include "pathmap/base/interval.h"
#include "pathmap/plan/plan.h"
#include "tree/data/batch.h"
#include "tree/data/names.h"
#include "tree/wire/wire.h"

/** Sums of what an answer brought for the first time. */
struct delivery_sums {
	uint64_t tuples; /* delivered */
	uint64_t read, lost, discarded, filtered, reduced;
	uint64_t sampled;     /* out; of `filtered` */
	uint64_t repeated;    /* tuples that had come before, and were removed */
	uint64_t unaccounted; /* difference between the parts' counts and the tuples that are
			       * there */
};

/** A leaf of the scope, or a former one. Owned by the delivery account. */
struct delivery_leaf {
	uint32_t index; /* of its place in the present scope */
	char *name;	/* "/cluster/node" */
	bool present;	/* in the present scope */
	bool noted;	/* it owes a wave, or is not back, or has unreadable processes */
	bool back;	/* it was in the newest answer that it could be in: it can be asked again */
	struct interval_set owed;  /* waves that it may have made, and that have not come */
	struct delivery_sums sums; /* without what came in folded parts, but for `lost` of those
				    * that these name as the worst */
	uint32_t unreadable; /* processes that it reported so last; or 0, if a folded part did not
			      * name it */
};

/** Waves of some leaves to ask for again. */
struct delivery_again {
	uint64_t wave;
	uint32_t count;
	uint32_t *leaves; /* place indexes; valid until the next delivery_again() */
	size_t n;
};

struct delivery;
struct delivery *delivery_new(void);
void delivery_free(struct delivery *delivery);

/** The scope was opened, or opened again after a break. Recognizes leaves by the names of their
 * nodes. @backlog: elements are read from their first tuple. */
void delivery_open(struct delivery *delivery, const Evspace__Opened *opened, bool backlog);

/** Leaves of the present scope. */
size_t delivery_leaves(const struct delivery *delivery);
const struct delivery_leaf *delivery_leaf(const struct delivery *delivery, size_t i);

/** The leaf at this place, or NULL. */
const struct delivery_leaf *delivery_leaf_at(const struct delivery *delivery, uint32_t index);

/** When a wave was first asked for, and when its answer came (CLOCK_MONOTONIC, ns). */
struct delivery_times {
	uint64_t asked_ns, came_ns;
};

/**
 * Take the answer @a with its body in @batch, whose columns stay packed; removes from that what had
 * come before. A leaf that
 * is not in it now owes the wave, unless it cannot have been asked; a leaf in a repeated answer no
 * longer owes that wave. If a stage has mixed new parts with old ones, or folded them, the leaves
 * of the new ones still owe their wave.
 */
void delivery_take(struct delivery *delivery, const Evspace__Answer *a,
		   const struct delivery_times *times, struct batch *batch,
		   struct delivery_sums *sums);

/** Does a leaf owe waves older than those that @batch, already taken, has of it? */
bool delivery_is_early(const struct delivery *delivery, const struct batch *batch);

/** How many leaves of the present scope owe a wave. */
size_t delivery_owed(const struct delivery *delivery);

/** Which leaves must keep which waves: fills @owing (room for delivery_owed()). Returns how
 * many. */
size_t delivery_owing(const struct delivery *delivery, Evspace__Owing *owing);

/** What to ask for again now: the oldest waves owed by leaves that are back, @most of them. Only
 * one such ask may be under way. Returns false if there is nothing to ask for. */
bool delivery_again(struct delivery *delivery, uint32_t most, struct delivery_again *again);

/** From now on the name @element means another element, or one that another leaf began. */
void delivery_forget(struct delivery *delivery, uint32_t element);

/** An element is called @name now; @renamed: the same as before, with another text.
 * A leaf that has lost its cursors numbers its elements anew, and what came of them does not come
 * again. Returns what is known of that element. */
enum intervals_known delivery_name(struct delivery *delivery, const struct name *name,
				   bool renamed);

/** Unreadable processes, of all leaves of the present scope. */
uint64_t delivery_unreadable(const struct delivery *delivery);

/** Tuples that are missing without a report: gaps in the numbers of elements of leaves that owe no
 * wave. Always 0, except for bugs. */
uint64_t delivery_unaccounted(const struct delivery *delivery);

#endif
