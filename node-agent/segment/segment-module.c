/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of modules in a segment, written by its process and read by agents. */
#include "node-agent/segment/segment-module.h"

#include <string.h>

static struct segment_module *table_of(const struct segment *s)
{
	return (void *)((char *)s->header + s->layout.modules_at);
}

void segment_module_add(struct segment *s, const struct segment_module *like)
{
	struct segment_module *entry;
	uint32_t i = atomic_load_explicit(&s->header->modules, memory_order_relaxed);

	do
		if (i >= s->layout.modules_max)
			return;
	while (!atomic_compare_exchange_weak_explicit(&s->header->modules, &i, i + 1,
						      memory_order_relaxed, memory_order_relaxed));
	entry = table_of(s) + i;
	entry->bias = like->bias;
	entry->from = like->from;
	entry->end = like->end;
	entry->build_id_bytes = like->build_id_bytes;
	memcpy(entry->build_id, like->build_id, sizeof(entry->build_id));
	memcpy(entry->path, like->path, sizeof(entry->path));
	atomic_store_explicit(&entry->used, 1, memory_order_release);
}

static uint32_t segment_modules(const struct segment *s)
{
	uint32_t n = atomic_load_explicit(&s->header->modules, memory_order_relaxed);

	return n < s->layout.modules_max ? n : s->layout.modules_max;
}

/* NULL: not complete yet. */
static const struct segment_module *segment_module(const struct segment *s, uint32_t i)
{
	const struct segment_module *entry = table_of(s) + i;

	return i < s->layout.modules_max &&
			       atomic_load_explicit(&entry->used, memory_order_acquire) == 1
		       ? entry
		       : NULL;
}

const struct segment_module *segment_module_find(const struct segment *s, uint64_t address)
{
	for (uint32_t i = 0; i < segment_modules(s); i++) {
		const struct segment_module *module = segment_module(s, i);

		if (module && address >= module->from && address < module->end)
			return module;
	}
	return NULL;
}
