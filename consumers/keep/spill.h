/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorts more records than there is memory for: sorted runs in a file without a name, merged when
 * they are read. */
#ifndef EVSPACE_SPILL_H
#define EVSPACE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"

struct spill;

/** As of qsort(); those that are equal are in any order. */
typedef int spill_compare(const void *a, const void *b);

/** A spill of records of @bytes, which has about @memory in memory, and the rest in a file in the
 * folder of @beside, gone with the spill. */
struct spill *spill_new(size_t bytes, spill_compare *compare, size_t memory, const char *beside);

/** NULL is fine. */
void spill_free(struct spill *s);

/** Add a copy of @record. Returns 0, or -1 with @e: there is no room on the disk. */
int spill_add(struct spill *s, const void *record, struct error *e);

/** How many were added. */
uint64_t spill_count(const struct spill *s);

/** The next one in order, after the last has been added. Returns 1 with it in @record, 0 when there
 * is no more, or -1 with @e. */
int spill_next(struct spill *s, void *record, struct error *e);

/** From now on spill_next() begins with the first one again. */
void spill_again(struct spill *s);

#endif
