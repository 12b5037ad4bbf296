/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks: up to which tuple an element was discarded on request, for all readers. */
#ifndef EVSPACE_SEGMENT_MARK_H
#define EVSPACE_SEGMENT_MARK_H

#include "node-agent/segment/segment.h"

/** The mark of an element. Only agents write and read it. */
struct segment_mark {
	_Atomic uint64_t below; /* tuples with lower numbers are discarded; it never decreases */
};

_Static_assert(sizeof(struct segment_mark) == 8, "marks are 8 bytes");

/** The mark of element @i, NULL: out of range. */
const struct segment_mark *segment_mark(const struct segment *s, uint32_t i);

/** The lifetime of the tuples of element @i; NULL: the segment has none for each. */
const _Atomic uint64_t *segment_lifetime(const struct segment *s, uint32_t i);

/** Likewise among the @marks that are mapped. */
_Atomic uint64_t *segment_marks_lifetime(const struct segment *s, struct segment_mark *marks,
					 uint32_t i);

/** Map all marks writable, with the lifetimes. Returns NULL with errno. Unmapped by
 * segment_marks_unmap(). */
struct segment_mark *segment_marks_map(const struct segment *s);
void segment_marks_unmap(const struct segment *s, struct segment_mark *marks);

/** Discard all tuples that element @i of the table holds now, which is the paper's explicit
 * removal (section 4.1). Returns how many tuples that were, without those of earlier discards. */
uint64_t segment_discard(const struct segment *s, struct segment_mark *marks, uint32_t i);

/** The oldest tuple that an element of @capacity could hold when its mark @below was set. Those
 * before had been overwritten: they are lost, not discarded. */
static inline uint64_t segment_mark_oldest(uint64_t below, uint32_t capacity)
{
	return below < capacity ? 0 : below - (capacity - 1u);
}

#endif
