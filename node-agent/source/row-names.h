/* SPDX-License-Identifier: BSD-3-Clause */
/* What a segment says of its communicators, regions and phases, taken into a scope's names. */
#ifndef EVSPACE_ROW_NAMES_H
#define EVSPACE_ROW_NAMES_H

#include <stdbool.h>

#include "node-agent/segment/segment.h"
#include "tree/data/names.h"

/** Members that are taken from one segment, over all its communicators: those beyond are unknown.
 */
#define ROW_MEMBERS_MAX (4u << 20)

/** How much of a segment's communicators has been taken in. Usable when zeroed. */
struct row_comms {
	uint32_t seen;
	uint32_t remade; /* segment_header.comms_remade, as far as those are in, too */
	uint64_t members;
	/* of the pass under way: the entry that is next, what `remade` will be, and whether some
	 * entry was in the making */
	bool passing, making;
	uint32_t at, goal;
};

/** Has @s other communicators than were taken in? (Call it under the guard.) */
bool row_comms_changed(const struct segment *s, const struct row_comms *taken);

/** Learn the communicators of @s that are new or were made again, some at a time. Returns 0, 1:
 * there are more, or -1: it broke. */
int row_comms_take(const struct segment *s, struct names *names, struct row_comms *taken);

/** How much of a segment's labels has been taken in. Usable when zeroed. */
struct row_labels {
	uint32_t seen; /* so many the segment said it had when a pass that is over began */
	uint32_t goal; /* the same of the pass under way */
	uint32_t at;   /* the slot that is next in that; 0: none is under way */
};

/** Has @s other labels than were taken in? (Call it under the guard.) */
bool row_labels_changed(const struct segment *s, const struct row_labels *taken);

/** Learn the labels of @s that are new, some at a time. Returns 0, 1: there are more, or -1: it
 * broke. */
int row_labels_take(const struct segment *s, struct names *names, struct row_labels *taken);

#endif
