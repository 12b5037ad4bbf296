/* SPDX-License-Identifier: BSD-3-Clause */
/* Number ranges in brackets, "[0-3,6]": what host lists expand and patterns match. */
#ifndef EVSPACE_RANGE_H
#define EVSPACE_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pathmap/base/error.h"

/** The largest number in brackets. */
#define RANGE_MAX 999999999u

/** The numbers from @first to @last, both included. */
struct range {
	unsigned first, last;
	unsigned width; /* digits that each number has, by leading zeros; 0: as many as it needs */
};

/**
 * Read one range behind a `[` or a `,` at *@text, and move *@text behind the `,` or `]` that ends
 * it. Returns 1 when a `,` followed (there is another range), 0 when it was the `]`, or -1 with
 * what is wrong in @e and *@text where it is wrong.
 */
int range_next(const char **text, struct range *range, struct error *e);

/** Is the number in the @length digits at @digits in @range, written as that says? */
bool range_holds(const struct range *range, const char *digits, size_t length);

#endif
