/* SPDX-License-Identifier: BSD-3-Clause */
/* Intervals: numbers as people write them, "0-3,7", and sets of them. */
#ifndef EVSPACE_INTERVAL_H
#define EVSPACE_INTERVAL_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** The numbers [from, to). */
struct interval {
	uint64_t from, to;
};

/** Room for interval_text(). */
#define INTERVAL_TEXT 44

/** Write [@from, @to), which is not empty, as "0-3" or "7". Returns @buf. Allocates nothing: it is
 * for collectors, too. */
static inline const char *interval_text(char buf[INTERVAL_TEXT], uint64_t from, uint64_t to)
{
	if (to - from > 1)
		snprintf(buf, INTERVAL_TEXT, "%" PRIu64 "-%" PRIu64, from, to - 1);
	else
		snprintf(buf, INTERVAL_TEXT, "%" PRIu64, from);
	return buf;
}

/**
 * Read the next interval of "0-3,7" at *@text, and move that behind it and its comma. Returns false
 * at the end, or where there is no number. One that runs backwards is empty.
 */
bool interval_next(const char **text, struct interval *next);

/** Intervals in order, none touching the next. Plain data, usable when zeroed. */
struct interval_set {
	struct interval *items;
	size_t n, room;
};

void interval_set_fini(struct interval_set *set);

/** Put [@from, @to) in; what is there already is fine. */
void interval_set_add(struct interval_set *set, uint64_t from, uint64_t to);

/** Take [@from, @to) out. Returns how many of these numbers were there. */
uint64_t interval_set_remove(struct interval_set *set, uint64_t from, uint64_t to);

/** Is @number, which is below UINT64_MAX, there? */
bool interval_set_have(const struct interval_set *set, uint64_t number);

/**
 * Put in what @text lists, as interval_set_text() writes it: up to where it is something else, or
 * not in order, so that a list of any length takes no longer than reading it.
 */
void interval_set_read(struct interval_set *set, const char *text);

/** "0-3,7", "" for the empty set; the caller's to free(). */
char *interval_set_text(const struct interval_set *set);

#endif
