/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers classes of operations, switches them from outside, and adds up what they count. */
#include "node-agent/segment-class.h"

#include <string.h>

static const char *const mode_names[MODE_COUNT_OF] = {
	[MODE_TRACE] = "trace", [MODE_OFF] = "off",	  [MODE_COUNT] = "count",
	[MODE_TIME] = "time",	[MODE_SAMPLE] = "sample",
};

const char *segment_mode_name(unsigned mode)
{
	return mode < MODE_COUNT_OF ? mode_names[mode] : "?";
}

int segment_mode_find(const char *name)
{
	for (int i = 0; i < MODE_COUNT_OF; i++)
		if (strcmp(mode_names[i], name) == 0)
			return i;
	return -1;
}

static const char *const split_names[SPLIT_COUNT] = {
	[SPLIT_THREAD] = "thread",
	[SPLIT_COMM] = "comm",
	[SPLIT_OP] = "op",
	[SPLIT_SITE] = "site",
};

const char *segment_split_name(unsigned split)
{
	return split < SPLIT_COUNT ? split_names[split] : "?";
}

int segment_split_find(const char *name)
{
	for (int i = 0; i < SPLIT_COUNT; i++)
		if (strcmp(split_names[i], name) == 0)
			return i;
	return -1;
}

static struct segment_class *table_of(const struct segment *s)
{
	return (void *)((char *)s->header + s->layout.classes_at);
}

static struct segment_control *control_of(struct segment *s)
{
	return (void *)((char *)s->header + s->layout.control_at);
}

static void class_fill(struct segment_class *c, uint32_t comm, unsigned channel)
{
	c->comm = comm;
	c->channel = (uint16_t)channel;
	atomic_store_explicit(&c->used, 1, memory_order_release);
}

void segment_class_init(struct segment *s)
{
	for (unsigned channel = 0; channel < CHANNEL_MAX; channel++)
		class_fill(&table_of(s)[channel], 0, channel);
	atomic_store_explicit(&s->header->classes, CHANNEL_MAX, memory_order_release);
	atomic_store_explicit(&control_of(s)->mode[SEGMENT_CLASS_FRESH], MODE_FRESH,
			      memory_order_release);
}

static uint32_t class_find(const struct segment *s, uint32_t comm, unsigned channel)
{
	uint32_t n = segment_classes(s);

	for (uint32_t i = 0; i < n; i++) {
		const struct segment_class *c = segment_class(s, i);

		if (c && c->comm == comm && c->channel == channel)
			return i;
	}
	return UINT32_MAX;
}

uint32_t segment_class_make(struct segment *s, uint32_t comm, unsigned channel)
{
	struct segment_control *control = control_of(s);
	uint32_t i = comm ? class_find(s, comm, channel) : channel, used;

	if (i != UINT32_MAX)
		return i;
	used = atomic_load_explicit(&s->header->classes, memory_order_relaxed);
	do {
		if (used >= s->layout.classes_max) {
			atomic_fetch_or_explicit(&s->header->note, SEGMENT_NOTE_CLASSES,
						 memory_order_relaxed);
			return channel;
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&s->header->classes, &used, used + 1, memory_order_relaxed, memory_order_relaxed));
	class_fill(&table_of(s)[used], comm, channel);
	/* behind the entry: who switches all classes later finds it, who did before has set this */
	atomic_store(&control->mode[used], atomic_load(&control->fresh[channel]));
	return used;
}

struct segment_count *segment_counts_of(struct segment *s, uint32_t thread)
{
	struct segment_count *table = (void *)((char *)s->header + s->layout.counts_at);

	return &table[(uint64_t)thread * s->layout.classes_max];
}

uint32_t segment_classes(const struct segment *s)
{
	uint32_t used = atomic_load_explicit(&s->header->classes, memory_order_relaxed);

	return used < s->layout.classes_max ? used : s->layout.classes_max;
}

const struct segment_class *segment_class(const struct segment *s, uint32_t i)
{
	const struct segment_class *table = table_of(s);

	if (i >= s->layout.classes_max ||
	    atomic_load_explicit(&table[i].used, memory_order_acquire) != 1)
		return NULL;
	return &table[i];
}

const struct segment_count *segment_count(const struct segment *s, uint32_t thread, uint32_t class)
{
	const struct segment_count *table =
		(const void *)((const char *)s->header + s->layout.counts_at);

	if (thread >= s->layout.threads_max || class >= s->layout.classes_max)
		return NULL;
	return &table[(uint64_t)thread * s->layout.classes_max + class];
}

void segment_channel_sum(const struct segment *s, uint32_t thread, unsigned channel,
			 struct segment_sum *sum)
{
	uint32_t n = segment_classes(s);

	for (uint32_t i = 0; i < n; i++) {
		const struct segment_class *c = segment_class(s, i);
		const struct segment_count *count = segment_count(s, thread, i);

		if (!c || !count || c->channel != channel)
			continue;
		sum->calls += atomic_load_explicit(&count->calls, memory_order_relaxed);
		sum->bytes += atomic_load_explicit(&count->bytes, memory_order_relaxed);
		sum->ticks += atomic_load_explicit(&count->ticks, memory_order_relaxed);
		sum->skipped += atomic_load_explicit(&count->skipped, memory_order_relaxed);
	}
}

uint32_t segment_class_switch(struct segment_control *control, const struct segment *s, int channel,
			      const uint32_t *comm, enum segment_mode mode)
{
	uint32_t changed = 0;

	for (int i = 0; i < CHANNEL_MAX && !comm; i++)
		if (channel < 0 || channel == i)
			atomic_store(&control->fresh[i], mode);
	for (uint32_t i = 0; i < segment_classes(s); i++) {
		const struct segment_class *c = segment_class(s, i);

		if (!c || (channel >= 0 && c->channel != channel) || (comm && c->comm != *comm))
			continue;
		atomic_store(&control->mode[i], mode);
		changed++;
	}
	return changed;
}
