/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers: which tuples of each element have come, told by their numbers, so that none counts twice
 * and none is missed in silence (DESIGN rule 4). */
#ifndef EVSPACE_NUMBERS_H
#define EVSPACE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tree/batch.h"

/** A run of numbers: [from, to). */
struct span {
	uint64_t from, to;
};

/** Spans in order, none touching the next. Plain data, usable when zeroed. */
struct spans {
	struct span *items;
	size_t n, room;
};

void spans_fini(struct spans *spans);

/** Put [from, to) in; what is there already is fine. */
void spans_add(struct spans *spans, uint64_t from, uint64_t to);

/** Take [from, to) out. Returns how many of these numbers were there. */
uint64_t spans_remove(struct spans *spans, uint64_t from, uint64_t to);

/** Is @number there? */
bool spans_have(const struct spans *spans, uint64_t number);

/** The numbers of all elements, by their name ids. */
struct numbers;

struct numbers *numbers_new(void);
void numbers_free(struct numbers *numbers);

/**
 * Tuples [from, to) of @element have come, or are known to be lost. Returns how many of them had
 * not come before. An element that is new begins at @begin.
 */
uint64_t numbers_take(struct numbers *numbers, uint32_t element, uint64_t begin, uint64_t from,
		      uint64_t to);

/**
 * The tuples of a run have come. Returns how many are new, and in *@lost how many of those that it
 * says are lost. @backlog: an element that is new begins with its first tuple, else with the run.
 */
uint32_t numbers_take_run(struct numbers *numbers, const struct run_view *view, bool backlog,
			  uint64_t *lost);

/** What this id stands for begins with what comes first from now on: it is another element, or was
 * another leaf's before. */
void numbers_forget(struct numbers *numbers, uint32_t element);

/**
 * How many tuples lie between those that came, summed over the elements that @counts is true for:
 * nobody said that they are lost.
 */
uint64_t numbers_gaps(const struct numbers *numbers, bool (*counts)(void *arg, uint32_t element),
		      void *arg);

#endif
