/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers: which tuples of each element have come, told by their numbers, so that none counts twice
 * and none is missed in silence (docs/guarantees.md). */
#ifndef EVSPACE_INTERVALS_H
#define EVSPACE_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/batch.h"

/** The numbers of all elements, by their name ids. */
struct intervals;

struct intervals *intervals_new(void);
void intervals_free(struct intervals *numbers);

/**
 * Tuples [from, to) of @element have come, or are known to be lost. Returns how many of them had
 * not come before. An element that is new begins at @begin.
 */
uint64_t intervals_take(struct intervals *numbers, uint32_t element, uint64_t begin, uint64_t from,
			uint64_t to);

/**
 * The tuples of a run have come. Returns how many are new, and in *@lost how many of those that it
 * says are lost. @backlog: an element that is new begins with its first tuple, else with the run.
 */
uint32_t intervals_take_run(struct intervals *numbers, const struct run_view *view, bool backlog,
			    uint64_t *lost);

/** What this id stands for begins with what comes first from now on: it is another element, or was
 * another leaf's before. */
void intervals_forget(struct intervals *numbers, uint32_t element);

/**
 * How many tuples lie between those that came, summed over the elements that @counts is true for:
 * nobody said that they are lost.
 */
uint64_t intervals_gaps(const struct intervals *numbers,
			bool (*counts)(void *arg, uint32_t element), void *arg);

#endif
