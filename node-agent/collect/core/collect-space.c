/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds or makes the element that a thread writes to, when the path does not know it yet. */
#include "node-agent/collect/core/collect-space.h"

#include <string.h>
#include <sys/mman.h>

#include "node-agent/collect/core/modules.h"

/* Elements of split channels, by thread and key: an open hash table as large as the reserve
 * needs, made at the start. A slot belongs forever to the thread that took it. */
struct keyed {
	_Atomic uint64_t owner; /* thread and channel, 0: free */
	uint64_t key;
	struct element_writer writer;
};

/** Slots to try before giving a key up: the table is at most half full. */
#define PROBES 32

/* The element that an ended thread with the same entry has left. */
static struct segment_element *element_find(const struct segment_element *like)
{
	struct segment *s = collect_self.segment;
	struct segment_element *table = segment_overflow(s);
	uint32_t n = atomic_load_explicit(&s->header->elements, memory_order_acquire);

	for (uint32_t i = 0; i < n && i < s->layout.elements_max; i++)
		if (atomic_load_explicit(&table[i].used, memory_order_acquire) &&
		    table[i].thread == like->thread && table[i].channel == like->channel &&
		    table[i].split == like->split && table[i].key == like->key)
			return &table[i];
	return NULL;
}

/* Find or make this thread's element with @key. False: there is no room. */
static bool element_prepare(struct element_writer *w, unsigned channel, uint64_t key)
{
	const struct segment_element like = {
		.capacity = collect.capacity[channel],
		.thread = collect_self.index,
		.channel = (uint16_t)channel,
		.split = collect.split[channel],
		.key = key,
	};
	const struct segment_element *element = element_find(&like);
	struct segment *s = collect_self.segment;
	const struct element_ring *ring;
	struct segment_element taken;

	if (!element)
		element = segment_element_add(s, &like);
	if (!element)
		return false;
	/* other threads may be dropping the segment now: then it is all zero */
	memcpy(&taken, element, sizeof(taken));
	ring = segment_ring(s, &taken);
	if (ring)
		element_writer_init(w, (struct element_ring *)ring, taken.capacity);
	return ring != NULL;
}

static uint64_t key_of(const struct tuple *t, unsigned channel)
{
	switch (collect.split[channel]) {
	case SPLIT_COMM:
		return t->comm;
	case SPLIT_OP:
		return t->op;
	default:
		return (uintptr_t)collect_self.site;
	}
}

/* The writer of an element of a split channel, or NULL when there is no room. */
static struct element_writer *keyed_writer(unsigned channel, uint64_t key)
{
	const struct collect_space *space = collect_space_of(collect_self.segment);
	uint64_t owner = ((uint64_t)collect_self.index + 1) << 8 | channel;
	/* Fibonacci hashing (Knuth 6.4) */
	uint64_t home = (key ^ owner << 40) * 0x9e3779b97f4a7c15u;

	home ^= home >> 32;
	for (uint64_t i = 0; i < space->keyed_n && i < PROBES; i++) {
		struct keyed *slot = &space->keyed[(home + i) & (space->keyed_n - 1)];
		uint64_t found = atomic_load_explicit(&slot->owner, memory_order_relaxed);

		if (found == owner && slot->key == key)
			return slot->writer.ring ? &slot->writer : NULL;
		if (found || !atomic_compare_exchange_strong_explicit(&slot->owner, &found, owner,
								      memory_order_relaxed,
								      memory_order_relaxed))
			continue;
		slot->key = key;
		if (collect.split[channel] == SPLIT_SITE)
			modules_note(collect_self.segment, key);
		return element_prepare(&slot->writer, channel, key) ? &slot->writer : NULL;
	}
	return NULL;
}

/* The writer of this thread's element for @t. NULL: there is no room. */
static struct element_writer *writer_of(const struct tuple *t, unsigned channel)
{
	struct collect_thread *self = &collect_self;
	struct element_writer *w = &self->writers[channel];

	if (self->index == SEGMENT_NO_THREAD || self->spilling >> channel & 1)
		return NULL;
	if (w->ring)
		return w;
	if (collect.split[channel] != SPLIT_THREAD)
		return keyed_writer(channel, key_of(t, channel));
	if (element_prepare(w, channel, 0))
		return w;
	self->spilling |= 1u << channel;
	return NULL;
}

bool collect_space_write(const struct tuple *t, unsigned channel)
{
	struct element_writer *place = writer_of(t, channel), w;

	if (!place)
		return false;
	/* another thread may be dropping the segment now: then it all becomes zero */
	memcpy(&w, place, sizeof(w));
	atomic_signal_fence(memory_order_seq_cst);
	if (!w.ring || !w.next || !w.end)
		return false;
	element_write(&w, t);
	place->next = w.next;
	return true;
}

/* Zeroed memory with its pages present; NULL: there is none. */
static void *memory_take(size_t n)
{
	const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	/* cppcheck-suppress [invalidFunctionArg] */
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, kind, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	return at;
}

struct collect_space *collect_space_new(void)
{
	return memory_take(sizeof(struct collect_space));
}

void collect_space_free(struct collect_space *space)
{
	if (space->keyed)
		munmap(space->keyed, space->keyed_n * sizeof(*space->keyed));
	munmap(space, sizeof(*space));
}

void collect_space_forget(struct collect_space *space)
{
	if (space->keyed)
		(void)madvise(space->keyed, space->keyed_n * sizeof(*space->keyed), MADV_DONTNEED);
}

/* Make the table of writers of split channels, twice as large as there can be elements. */
void collect_space_split(struct collect_space *space)
{
	uint64_t n = 1;

	while (n < 2 * (uint64_t)space->segment.layout.elements_max)
		n *= 2;
	space->keyed = memory_take(n * sizeof(*space->keyed));
	/* without it, tuples of split channels go to the overflow element */
	if (space->keyed)
		space->keyed_n = n;
}
