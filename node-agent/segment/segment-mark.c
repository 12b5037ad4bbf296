/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and sets the marks of what was discarded on request. */
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"

#include <sys/mman.h>

const struct segment_mark *segment_mark(const struct segment *s, uint32_t i)
{
	const char *at = (const char *)s->header + s->layout.marks_at;

	return i < s->layout.elements_max ? (const struct segment_mark *)(const void *)at + i
					  : NULL;
}

/* Bytes of the marks alone, of both tables. */
static size_t marks_only(const struct segment *s)
{
	return s->layout.elements_max * sizeof(struct segment_mark);
}

static bool has_lifetimes(const struct segment *s)
{
	size_t n = s->layout.elements_max * sizeof(uint64_t);

	return s->said.lifetimes == 1 && s->layout.marks_at + marks_only(s) + n <= s->size;
}

static size_t marks_bytes(const struct segment *s)
{
	return marks_only(s) + (has_lifetimes(s) ? s->layout.elements_max * sizeof(uint64_t) : 0);
}

_Atomic uint64_t *segment_marks_lifetime(const struct segment *s, struct segment_mark *marks,
					 uint32_t i)
{
	char *at = (char *)marks + marks_only(s);

	return i < s->layout.elements_max && has_lifetimes(s) ? (_Atomic uint64_t *)(void *)at + i
							      : NULL;
}

const _Atomic uint64_t *segment_lifetime(const struct segment *s, uint32_t i)
{
	char *marks = (char *)s->header + s->layout.marks_at;

	return segment_marks_lifetime(s, (struct segment_mark *)(void *)marks, i);
}

struct segment_mark *segment_marks_map(const struct segment *s)
{
	return segment_map(s, s->layout.marks_at, marks_bytes(s));
}

void segment_marks_unmap(const struct segment *s, struct segment_mark *marks)
{
	if (marks)
		munmap(marks, marks_bytes(s));
}

uint64_t segment_discard(const struct segment *s, struct segment_mark *marks, uint32_t i)
{
	const struct segment_element *entry = segment_element(s, i);
	struct segment_element element;
	const struct element_ring *ring;
	uint64_t before, head, oldest;

	if (!entry)
		return 0;
	element = *entry;
	ring = segment_ring(s, &element);
	if (!ring)
		return 0;
	head = element_head(ring);
	before = atomic_load_explicit(&marks[i].below, memory_order_relaxed);
	/* two agents may do this at once: the higher mark wins */
	while (before < head &&
	       !atomic_compare_exchange_weak_explicit(&marks[i].below, &before, head,
						      memory_order_relaxed, memory_order_relaxed))
		;
	oldest = segment_mark_oldest(head, element.capacity);
	if (before > oldest)
		oldest = before;
	return head > oldest ? head - oldest : 0;
}
