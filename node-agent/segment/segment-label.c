/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of labels in a segment, written by its process and read by agents. */
#include "node-agent/segment/segment-label.h"

#include <string.h>

#include "tree/data/label-id.h"

static struct segment_label *table(const struct segment *s)
{
	return (void *)((char *)s->header + s->layout.labels_at);
}

static void label_fill(struct segment *s, struct segment_label *label, uint32_t id,
		       const char *text, size_t length)
{
	label->id = id;
	/* agents show it: nothing that a terminal would take for a command */
	for (size_t i = 0; i < length; i++)
		label->text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	label->text[length] = '\0';
	atomic_store_explicit(&label->used, LABEL_MADE, memory_order_release);
	atomic_fetch_add_explicit(&s->header->labels, 1, memory_order_release);
}

uint32_t segment_label_make(struct segment *s, const char *name, size_t length)
{
	const uint32_t n = s->layout.labels_max;
	uint32_t id;

	if (length >= SEGMENT_LABEL_TEXT)
		length = SEGMENT_LABEL_TEXT - 1;
	id = label_id(name, length);
	for (uint32_t i = 0; i < n; i++) {
		struct segment_label *label = &table(s)[(id + i) % n];
		uint32_t state = atomic_load_explicit(&label->used, memory_order_acquire);

		if (state == LABEL_FREE && atomic_compare_exchange_strong_explicit(
						   &label->used, &state, LABEL_MAKING,
						   memory_order_acquire, memory_order_acquire)) {
			label_fill(s, label, id, name, length);
			return id;
		}
		/* while another thread makes one it may be this: then it is there twice */
		if (state == LABEL_MADE && label->id == id)
			return id;
	}
	return id;
}

uint32_t segment_labels(const struct segment *s)
{
	return atomic_load_explicit(&s->header->labels, memory_order_acquire);
}

const struct segment_label *segment_label(const struct segment *s, uint32_t i)
{
	const struct segment_label *label = &table(s)[i];

	return i < s->layout.labels_max && atomic_load_explicit(&label->used,
								memory_order_acquire) == LABEL_MADE
		       ? label
		       : NULL;
}
