/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program calls its regions and phases, from its segment into a scope's names. */
#ifndef EVSPACE_ROW_LABEL_H
#define EVSPACE_ROW_LABEL_H

#include <stdbool.h>

#include "node-agent/segment/segment.h"
#include "tree/data/names.h"

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
