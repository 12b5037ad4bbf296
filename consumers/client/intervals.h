/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of the tuples of each element that have come, so that none counts twice and none is
 * missing unnoticed (docs/guarantees.md). */
#ifndef EVSPACE_INTERVALS_H
#define EVSPACE_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/data/batch.h"

/** The numbers of all elements, by their name ids. */
struct intervals;

struct intervals *intervals_new(void);
void intervals_free(struct intervals *numbers);

/** Tuples [from, to) of @element have come, or are known to be lost. Returns how many of them had
 * not come before. A new element begins at @begin. */
uint64_t intervals_take(struct intervals *numbers, uint32_t element, uint64_t begin, uint64_t from,
			uint64_t to);

/** The tuples of a run have come. Returns how many are new, and in *@lost how many of its lost ones
 * are. @backlog: a new element begins with its first tuple, else with the run. */
uint32_t intervals_take_run(struct intervals *numbers, const struct run_view *view, bool backlog,
			    uint64_t *lost);

/** Start anew with the next tuple of this id: it is another element now, or another leaf read it
 * before. */
void intervals_forget(struct intervals *numbers, uint32_t element);

/** What is known of an element by its name. */
enum intervals_known {
	INTERVALS_NEW,
	INTERVALS_KNOWN,   /* what had come of it, by whatever id, has come */
	INTERVALS_ANOTHER, /* one of that name was of another execution: nothing of this one has */
};

/** The element with this id is called @text now; @renamed: it is the same that had the id before.
 * @born: which execution it is of, 0 if that is unknown (struct name). */
enum intervals_known intervals_call(struct intervals *numbers, uint32_t element, const char *text,
				    uint64_t born, bool renamed);

/** How many tuples are missing between those that came, without being reported as lost: the sum
 * over elements for which @counts is true. */
uint64_t intervals_gaps(const struct intervals *numbers,
			bool (*counts)(void *arg, uint32_t element), void *arg);

#endif
