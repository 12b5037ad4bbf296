/* SPDX-License-Identifier: BSD-3-Clause */
/* Groves: random leaves, and random trees over them that fold on the way, for tests of stages. */
#ifndef EVSPACE_TESTS_GROVE_H
#define EVSPACE_TESTS_GROVE_H

#include "tree/stage/stage.h"

/** Leaves of a grove, elements of each, and how many groves a test tries. */
#define RANDOM_TREES_LEAVES   6
#define RANDOM_TREES_ELEMENTS 5
#define RANDOM_TREES_TREES    200

/** The wave that all parts are of. */
#define RANDOM_TREES_WAVE 3

/** What the groves are made of; set it first. */
extern uint64_t grove_seed;

/** Do some places fold parts? */
extern bool random_trees_folds;

/** One place of a tree: its names, and its part of the wave. */
struct place {
	struct names *names;
	struct batch batch;
	size_t said; /* names that its parent has */
};

void place_init(struct place *p, uint32_t index);
void place_fini(struct place *p);

/** Apply one stage to what is there. */
void place_apply(struct place *p, const struct stage_ops *ops, enum level level, const char *args);

/** Make @p a leaf with random runs. Its ticks are nanoseconds or more, so that no two of them
 * become one. */
void place_fill(struct place *p, uint32_t index, int same_clock);

/** What a hop does: names first, then runs, which @from has no more. */
void place_join(struct place *to, struct place *from);

/** Add to @to what is in @from. */
void place_copy(struct place *to, const struct place *from);

/**
 * Join the @n leaves at random, applying the stage on the way now and then, at @level or below,
 * until the one is left that is places[0]; there it is applied at @level.
 */
void random_trees_grow(struct place *places, size_t n, const struct stage_ops *ops,
		       enum level level, const char *args);

#endif
