/* SPDX-License-Identifier: BSD-3-Clause */
/* Number ranges in brackets, "[0-3,6]", for host lists and patterns. */
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
	unsigned width; /* digits of each number, with leading zeros; 0: as needed */
};

/**
 * Read one range at *@text, which is after a `[` or a `,`, and move *@text past the `,` or `]` that
 * ends it. Returns 1 after a `,` (there is another range), 0 after the `]`, or -1 with @e and
 * *@text at the fault.
 */
int range_next(const char **text, struct range *range, struct error *e);

/** Is the number of the @length digits at @digits in @range, with the range's width? */
bool range_holds(const struct range *range, const char *digits, size_t length);

#endif
