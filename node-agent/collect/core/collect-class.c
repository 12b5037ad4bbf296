/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the classes of a communicator when first needed, and tracks whether its numbers compare. */
#include "node-agent/collect/core/collect.h"

/* The first classes of every segment have these numbers. */
struct collect_classes collect_none = {
	.of = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};

static void classes_unnumber(struct collect_classes *classes)
{
	atomic_fetch_or_explicit(&classes->on, element_word(0, element_half(0, TUPLE_UNNUMBERED)),
				 memory_order_relaxed);
}

unsigned collect_class_ready(struct collect_classes *classes, unsigned channel)
{
	unsigned class = collect_class(classes, channel);

	if (class != SEGMENT_CLASS_FRESH)
		return class;
	class = segment_class_make(collect.segment, classes->comm, channel);
	atomic_store_explicit(&classes->of[channel], (uint16_t) class, memory_order_relaxed);
	return class;
}

unsigned collect_class_resumed(struct collect_classes *classes, unsigned class, unsigned channel)
{
	if (classes->numbered >> channel & 1)
		classes_unnumber(classes);
	/* when the table is full, communicators share the class of no communicator, and each
	 * must see that it was off */
	if (class < CHANNEL_MAX && classes->comm)
		return collect_mode(class) & ~(unsigned)MODE_MISSED;
	return segment_class_resume(collect_self.segment, class);
}

void collect_classes_make(struct collect_classes *classes, unsigned channel)
{
	if (collect.segment->header)
		collect_class_ready(classes, channel);
}

void collect_classes_number(struct collect_classes *classes, uint32_t channels)
{
	classes->numbered = channels;
	/* a class made later could not tell which calls it missed before */
	for (unsigned i = 0; i < CHANNEL_PROGRAMS && collect.segment->header; i++) {
		unsigned class;

		if (!(channels >> i & 1) || !segment_class_missed(collect.segment, i))
			continue;
		class = collect_class_ready(classes, i);
		if (class >= CHANNEL_MAX)
			segment_class_resume(collect.segment, class);
	}
}

void collect_classes_check(struct collect_classes *classes)
{
	for (unsigned i = 0; i < CHANNEL_PROGRAMS && collect.segment->header; i++) {
		unsigned class = collect_class(classes, i), mode = collect_mode(class);

		if (!(classes->numbered >> i & 1))
			continue;
		if (class == SEGMENT_CLASS_FRESH ? segment_class_missed(collect.segment, i)
						 : mode == MODE_OFF || mode & MODE_MISSED)
			classes_unnumber(classes);
	}
}

void collect_classes_init(struct collect_classes *classes, uint32_t comm)
{
	classes->comm = comm;
	classes->numbered = 0;
	atomic_store_explicit(&classes->next, 0, memory_order_relaxed);
	atomic_store_explicit(&classes->on, element_word(comm, 0), memory_order_relaxed);
	for (int i = 0; i < CHANNEL_MAX; i++)
		atomic_store_explicit(&classes->of[i],
				      comm ? (uint16_t)SEGMENT_CLASS_FRESH : (uint16_t)i,
				      memory_order_relaxed);
}
