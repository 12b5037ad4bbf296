/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels: what the program calls its regions and phases (evspace.h), by the numbers in its tuples.
 */
#ifndef EVSPACE_SEGMENT_LABEL_H
#define EVSPACE_SEGMENT_LABEL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Bytes of a label with its end; of what is longer the beginning counts. */
#define SEGMENT_LABEL_TEXT 56

/** One label, in a hash table that only grows. */
struct segment_label {
	_Atomic uint32_t used; /* enum segment_label_state */
	uint32_t id;	       /* hash of the text: the same in all processes; never 0 */
	char text[SEGMENT_LABEL_TEXT];
};

enum segment_label_state { LABEL_FREE, LABEL_MAKING, LABEL_MADE };

_Static_assert(sizeof(struct segment_label) == 64, "labels are 64 bytes");

/**
 * The number of the label @name of @length bytes, which is made when it is new. Lock-free, bounded.
 * When the table is full it has a number all the same, and no text on record.
 */
uint32_t segment_label_make(struct segment *s, const char *name, size_t length);

/** How many have been made, of a mapped segment: when this grows there is something new. */
uint32_t segment_labels(const struct segment *s);

/** The label in slot @i < labels_max, NULL when there is none. */
const struct segment_label *segment_label(const struct segment *s, uint32_t i);

#endif
