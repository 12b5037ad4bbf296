/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds a segment's communicators, regions and phases to a scope's names. */
#ifndef EVSPACE_ROW_NAMES_H
#define EVSPACE_ROW_NAMES_H

#include <stdbool.h>

#include "node-agent/segment/segment.h"
#include "tree/data/names.h"

/** Most members learnt from one segment, over all its communicators; others stay unknown. */
#define ROW_MEMBERS_MAX (4u << 20)

/** How many of a segment's communicators have been learnt. Usable when zeroed. */
struct row_comms {
	uint32_t seen;
	uint32_t remade; /* segment_header.comms_remade, as far as learnt */
	uint64_t members;
	/* of the current pass: the next entry, the new `remade`, and whether some entry was
	 * incomplete */
	bool passing, making;
	uint32_t at, goal;
};

/** Does @s have communicators that are not learnt? (For guarded reads.) */
bool row_comms_changed(const struct segment *s, const struct row_comms *taken);

/** Learn some of the communicators of @s that are new or reused. Returns 0, 1: there are more,
 * or -1: the file was cut short. */
int row_comms_take(const struct segment *s, struct names *names, struct row_comms *taken);

/** How many of a segment's labels have been learnt. Usable when zeroed. */
struct row_labels {
	uint32_t seen; /* segment_labels() when the last complete pass began */
	uint32_t goal; /* segment_labels() when the current pass began */
	uint32_t at;   /* next slot of the current pass; 0: there is none */
};

/** Does @s have labels that are not learnt? (For guarded reads.) */
bool row_labels_changed(const struct segment *s, const struct row_labels *taken);

/** Learn some of the new labels of @s. Returns 0, 1: there are more, or -1: the file was cut
 * short. */
int row_labels_take(const struct segment *s, struct names *names, struct row_labels *taken);

#endif
