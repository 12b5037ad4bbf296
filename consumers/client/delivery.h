/* SPDX-License-Identifier: BSD-3-Clause */
/* The delivery account: what has come of each leaf's waves and what is owed, so that every tuple
 * counts once (docs/decisions/0004-leaves-remember.md). */
#ifndef EVSPACE_DELIVERY_H
#define EVSPACE_DELIVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/interval.h"
#include "pathmap/plan/plan.h"
#include "tree/data/batch.h"
#include "tree/wire/wire.h"

/** What an answer brought that had not come before. */
struct delivery_sums {
	uint64_t tuples; /* delivered */
	uint64_t read, lost, discarded, filtered, reduced;
	uint64_t repeated;    /* tuples that had come before, and were taken out */
	uint64_t unaccounted; /* the parts' counts say something else than what is there */
};

/** A leaf of the scope, or one that was. Owned by the delivery account until its end. */
struct delivery_leaf {
	uint32_t index; /* its place's, in the scope as it is now */
	char *name;	/* "/cluster/node" */
	bool present;	/* in the scope as it is now */
	bool back;	/* it was in the newest answer that it could be in: it can be asked again */
	struct interval_set owed; /* waves that it may have made, and that have not come */
	uint64_t newest;	  /* wave that came */
	uint64_t seen;		  /* answer that it was in last */
	struct delivery_sums sums;
	uint32_t unreadable; /* processes of which it said so last */
};

/** Waves of some leaves that are to be asked for again. */
struct delivery_again {
	uint64_t wave;
	uint32_t count;
	uint32_t
		*leaves; /* place indexes; the delivery account's until it is asked the next time */
	size_t n;
};

struct delivery;
struct delivery *delivery_new(void);
void delivery_free(struct delivery *delivery);

/**
 * The scope was opened, or opened again after a break. Leaves are known again by their nodes'
 * names.
 * @backlog: elements are read from their first tuple.
 */
void delivery_open(struct delivery *delivery, const Evspace__Opened *opened, bool backlog);

/** Leaves of the scope as it is now. */
size_t delivery_leaves(const struct delivery *delivery);
const struct delivery_leaf *delivery_leaf(const struct delivery *delivery, size_t i);

/** The leaf at this place, NULL if there is none. */
const struct delivery_leaf *delivery_leaf_at(const struct delivery *delivery, uint32_t index);

/** When a wave was asked for first, and when its answer came (CLOCK_MONOTONIC, ns). */
struct delivery_times {
	uint64_t asked_ns, came_ns;
};

/**
 * Take in the answer @a with its body in @batch, from which what had come before is taken out. A
 * leaf that is not in it owes the wave from now on, unless it cannot have been asked at all; one
 * that is in an answer to what it was asked for again owes that no more. Where a stage has mixed
 * what is new with what is not, the leaves that are new owe their wave still.
 */
void delivery_take(struct delivery *delivery, const Evspace__Answer *a,
		   const struct delivery_times *times, struct batch *batch,
		   struct delivery_sums *sums);

/** Does a leaf owe waves older than those that @batch, which was taken in, has of it? */
bool delivery_is_early(const struct delivery *delivery, const struct batch *batch);

/** Does any leaf of the scope as it is now owe a wave? */
bool delivery_owed(const struct delivery *delivery);

/** Which leaves must keep which waves: fills @owing (room for delivery_leaves()). Returns how many.
 */
size_t delivery_owing(const struct delivery *delivery, Evspace__Owing *owing);

/**
 * What to ask for again now: the oldest waves owed by leaves that are back, @most of them. Only one
 * such ask may be under way at a time. Returns false when nothing is.
 */
bool delivery_again(struct delivery *delivery, uint32_t most, struct delivery_again *again);

/** The name @element has another meaning from now on, or its first tuples were another leaf's. */
void delivery_forget(struct delivery *delivery, uint32_t element);

/** Tuples that are missing without a word of anybody: gaps in the numbers of elements of leaves
 * that owe no wave. Always 0 but for bugs. */
uint64_t delivery_unaccounted(const struct delivery *delivery);

#endif
