/* SPDX-License-Identifier: BSD-3-Clause */
/* Which leaves a folded part is of, as ranges of their places' indexes, and the worst few of them
 * by name. */
#ifndef EVSPACE_LEAVES_H
#define EVSPACE_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** All leaves among the places [from, from + count). The layout is that on the wire. */
struct leaf_range {
	uint32_t from, count;
};

/** What a leaf can be worst in. */
enum leaf_figure { LEAF_UNREADABLE, LEAF_LOST, LEAF_FIGURES };

/** A leaf with one of the largest figures. The layout is that on the wire. */
struct leaf_worst {
	uint64_t value; /* more than 0 */
	uint32_t leaf;
	uint32_t figure; /* enum leaf_figure */
};

_Static_assert(sizeof(struct leaf_range) == 8, "a range of leaves is 8 bytes");
_Static_assert(sizeof(struct leaf_worst) == 16, "a worst leaf is 16 bytes");

/** So many of each figure are named. */
#define LEAF_WORST_MOST 4u

/** For struct run_record. */
bool leaf_range_sound(const void *record);
bool leaf_worst_sound(const void *record);

/** Ranges in ascending order, none next to another. Usable when zeroed; the table is kept. */
struct leaf_ranges {
	struct leaf_range *items;
	size_t n, room;
};

/** Add @range, joined with those next to it. Returns false if a place of it is there already; then
 * nothing changes. */
bool leaf_ranges_add(struct leaf_ranges *ranges, struct leaf_range range);

/** Is the place in one of the @n ranges, which are in ascending order? */
bool leaf_ranges_have(const struct leaf_range *ranges, size_t n, uint32_t place);

/** The worst few. Usable when zeroed. */
struct leaf_worsts {
	struct leaf_worst items[LEAF_FIGURES][LEAF_WORST_MOST]; /* the worst first */
	unsigned n[LEAF_FIGURES];
};

/** Note @worst, if it is one. Of equal ones the lower leaf is worse, so that the order of adding
 * does not matter. */
void leaf_worsts_add(struct leaf_worsts *worsts, struct leaf_worst worst);

#endif
