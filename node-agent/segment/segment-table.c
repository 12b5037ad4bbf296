/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of labels, modules and communicators in a segment, written by its process and read by
 * agents. */
#include "node-agent/segment/segment-table.h"

#include "node-agent/segment/segment-mark.h"

#include <stddef.h>
#include <string.h>

#include "tree/data/names-comm.h"

static struct segment_label *labels_of(const struct segment *s)
{
	return (void *)((char *)s->header + s->layout.labels_at);
}

static void label_fill(struct segment *s, struct segment_label *label, uint32_t id,
		       const char *text, size_t length)
{
	label->id = id;
	/* agents print it: it must not hold terminal commands */
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
		struct segment_label *label = &labels_of(s)[(id + i) % n];
		uint32_t state = atomic_load_explicit(&label->used, memory_order_acquire);

		if (state == LABEL_FREE && atomic_compare_exchange_strong_explicit(
						   &label->used, &state, LABEL_MAKING,
						   memory_order_acquire, memory_order_acquire)) {
			label_fill(s, label, id, name, length);
			return id;
		}
		/* another thread may be making the same label: then it is there twice */
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
	const struct segment_label *label = &labels_of(s)[i];

	return i < s->layout.labels_max && atomic_load_explicit(&label->used,
								memory_order_acquire) == LABEL_MADE
		       ? label
		       : NULL;
}

/* ---- modules ---- */

static struct segment_module *modules_of(const struct segment *s)
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
	entry = modules_of(s) + i;
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

const struct segment_module *segment_module(const struct segment *s, uint32_t i)
{
	const struct segment_module *entry = modules_of(s) + i;

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

/* ---- communicators ---- */

static struct segment_comm *comms_of(struct segment *s)
{
	return (void *)((char *)s->header + s->layout.comms_at);
}

static uint32_t comms_used(const struct segment *s)
{
	return atomic_load_explicit(&s->header->comms, memory_order_relaxed);
}

static struct segment_comm *comm_find(struct segment *s, uint32_t id)
{
	struct segment_comm *table = comms_of(s);

	for (uint32_t i = 0, n = comms_used(s); i < n; i++)
		if (atomic_load_explicit(&table[i].used, memory_order_acquire) && table[i].id == id)
			return &table[i];
	return NULL;
}

/* A new entry at the end of the table, NULL: it is full. */
static struct segment_comm *comm_new(struct segment *s)
{
	uint32_t i = comms_used(s);

	do {
		if (i >= s->layout.comms_max)
			return NULL;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->header->comms, &i, i + 1, memory_order_relaxed, memory_order_relaxed));
	return &comms_of(s)[i];
}

/* The oldest entry of a freed communicator, NULL: there is none. */
static struct segment_comm *comm_oldest(struct segment *s)
{
	struct segment_comm *table = comms_of(s), *found = NULL;
	uint32_t oldest = 0;

	for (uint32_t i = 0; i < s->layout.comms_max; i++) {
		uint32_t made = atomic_load_explicit(&table[i].made, memory_order_relaxed);

		if (atomic_load_explicit(&table[i].left, memory_order_relaxed) &&
		    (!found || (int32_t)(made - oldest) < 0)) {
			found = &table[i];
			oldest = made;
		}
	}
	return found;
}

/* Take that entry to reuse it; readers see by `made` that it was. */
static struct segment_comm *comm_again(struct segment *s)
{
	struct segment_comm *c;
	uint32_t left;

	/* repeats only when another thread was faster, so at most once for each thread */
	do {
		c = comm_oldest(s);
		if (!c)
			return NULL;
		left = 1;
	} while (!atomic_compare_exchange_strong(&c->left, &left, 0));
	atomic_store_explicit(&c->used, 0, memory_order_relaxed);
	atomic_store_explicit(&c->made, 1 + atomic_fetch_add(&s->header->comms_remade, 1),
			      memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return c;
}

void segment_comm_add(struct segment *s, uint32_t id, uint32_t parent, uint32_t size,
		      uint32_t members)
{
	struct segment_comm *c = comm_find(s, id);

	if (c)
		return;
	c = comm_new(s);
	if (!c)
		c = comm_again(s);
	if (!c) {
		atomic_fetch_or_explicit(&s->header->note, SEGMENT_NOTE_COMMS,
					 memory_order_relaxed);
		return;
	}
	c->id = id;
	c->parent = parent;
	c->size = size;
	c->members = members;
	atomic_store_explicit(&c->used, 1, memory_order_release);
}

void segment_comm_leave(struct segment *s, uint32_t id)
{
	struct segment_comm *c = id ? comm_find(s, id) : NULL;

	if (c)
		atomic_store_explicit(&c->left, 1, memory_order_release);
}

void segment_lifetime_set(struct segment *s, const struct segment_element *entry, uint64_t ns)
{
	const struct segment_layout *l = &s->layout;
	char *file = (char *)s->header;
	uint64_t i = (uint64_t)((const char *)entry - file - l->elements_at) / sizeof(*entry);
	char *at = file + l->marks_at + l->elements_max * sizeof(struct segment_mark);

	atomic_store_explicit((_Atomic uint64_t *)(void *)at + i, ns, memory_order_relaxed);
}
