/* SPDX-License-Identifier: BSD-3-Clause */
/* Intervals of numbers, "0-3,7", and sets of them; ranges in brackets, "[0-3,6]", of names. */
#ifndef EVSPACE_INTERVAL_H
#define EVSPACE_INTERVAL_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pathmap/base/error.h"

/** The numbers [from, to). */
struct interval {
	uint64_t from, to;
};

/** Room for interval_text(). */
#define INTERVAL_TEXT 44

/** Write [@from, @to), which must not be empty, as "0-3" or "7". Returns @buf. Allocates
 * nothing, for collectors. */
static inline const char *interval_text(char buf[INTERVAL_TEXT], uint64_t from, uint64_t to)
{
	if (to - from > 1)
		snprintf(buf, INTERVAL_TEXT, "%" PRIu64 "-%" PRIu64, from, to - 1);
	else
		snprintf(buf, INTERVAL_TEXT, "%" PRIu64, from);
	return buf;
}

/** Read the next interval of "0-3,7" at *@text, and move *@text past it and its comma. Returns
 * false at the end, or if there is no number. One that runs backwards is empty. */
bool interval_next(const char **text, struct interval *next);

/** Sorted intervals, none touching the next. Plain data, usable when zeroed. */
struct interval_set {
	struct interval *items;
	size_t n, room;
};

void interval_set_fini(struct interval_set *set);

/** Add [@from, @to), of which some numbers may be in the set already. */
void interval_set_add(struct interval_set *set, uint64_t from, uint64_t to);

/** Remove [@from, @to). Returns how many of these numbers were in the set. */
uint64_t interval_set_remove(struct interval_set *set, uint64_t from, uint64_t to);

/** Is @number, which must be below UINT64_MAX, in the set? */
bool interval_set_have(const struct interval_set *set, uint64_t number);

/** Add the list in @text, as interval_set_text() writes it, up to a part that is not valid or
 * not in order, so that the time is linear in the length. */
void interval_set_read(struct interval_set *set, const char *text);

/** "0-3,7", "" for the empty set; for the caller to free(). */
char *interval_set_text(const struct interval_set *set);

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
