/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets a process and its threads up for collecting; everything here is off the path. */
#include "node-agent/collect/collect.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/** Keys below this are kept inside the thread descriptor: setting one takes no memory (glibc,
 * nptl). */
#define INLINE_KEYS 32

struct collect collect;
__thread struct collect_thread collect_self;

/* Where threads without an entry keep what nobody reads: all of them write here, with atomic
 * stores. */
static struct segment_thread no_entry;
static union {
	struct element_ring ring;
	char bytes[sizeof(struct element_ring) + sizeof(struct tuple)];
} no_ring;

/* Entries of threads that have ended, a bit each: taken again when the reserve is used up. */
static _Atomic uint64_t free_entries;
static pthread_key_t exit_key;
static bool exit_key_made;

static struct segment_thread *entry_at(uint32_t index)
{
	char *table = (char *)collect.segment.header + collect.segment.layout.threads_at;

	return (struct segment_thread *)(void *)table + index;
}

/* At a thread's end (pthread_key_create(3)): its entry and elements may serve another one. */
static void thread_ended(void *arg)
{
	struct collect_thread *self = arg;

	if (self->entry && self->entry != &no_entry && self->index < 64)
		atomic_fetch_or_explicit(&free_entries, UINT64_C(1) << self->index,
					 memory_order_release);
	memset(self, 0, sizeof(*self));
	/* destructors of others may still call the library: not recorded */
	self->inside = 1;
}

static struct segment_thread *entry_reuse(void)
{
	uint64_t bits = atomic_load_explicit(&free_entries, memory_order_relaxed);

	while (bits) {
		unsigned i = (unsigned)__builtin_ctzll(bits);

		if (atomic_compare_exchange_weak_explicit(
			    &free_entries, &bits, bits & ~(UINT64_C(1) << i), memory_order_acquire,
			    memory_order_relaxed))
			return entry_at(i);
	}
	return NULL;
}

static void thread_attach(struct collect_thread *self, uint32_t tid)
{
	struct segment *s = &collect.segment;
	uint32_t used = atomic_load_explicit(&s->header->threads, memory_order_relaxed);
	struct segment_thread *entry = used < s->layout.threads_max ? NULL : entry_reuse();

	if (!entry)
		entry = segment_thread_add(s, tid);
	self->entry = entry ? entry : &no_entry;
	self->index = entry ? (uint32_t)(entry - entry_at(0)) : SEGMENT_NO_THREAD;
	if (exit_key_made)
		pthread_setspecific(exit_key, self);
}

/* The element that an ended thread with this entry has left. */
static struct segment_element *element_find(uint32_t thread, unsigned channel)
{
	struct segment *s = &collect.segment;
	struct segment_element *table = segment_overflow(s);
	uint32_t n = atomic_load_explicit(&s->header->elements, memory_order_acquire);

	for (uint32_t i = 0; i < n && i < s->layout.elements_max; i++)
		if (atomic_load_explicit(&table[i].used, memory_order_acquire) &&
		    table[i].thread == thread && table[i].channel == channel)
			return &table[i];
	return NULL;
}

bool collect_prepare(unsigned channel)
{
	struct collect_thread *self = &collect_self;
	struct segment *s = &collect.segment;
	struct segment_element *element = NULL;

	if (!s->header)
		return false;
	if (!self->entry)
		thread_attach(self, 0);
	if (self->entry != &no_entry) {
		element = element_find(self->index, channel);
		if (!element)
			element = segment_element_add(s, self->index, (uint16_t)channel,
						      collect.capacity[channel]);
	}
	if (element) {
		char *ring = (char *)s->header + element->ring_at;

		element_writer_init(&self->writers[channel], (void *)ring, element->capacity);
	} else {
		element_writer_init(&self->writers[channel], &no_ring.ring, 1);
		self->spilling |= 1u << channel;
	}
	return true;
}

void collect_spill(void)
{
	segment_overflow_write(&collect.segment);
}

/* The time of one event: the best of a few batches on a ring that nobody sees. */
static uint32_t cost_measure(void)
{
	enum { BATCHES = 6, EVENTS = 64 };
	static union {
		struct element_ring ring;
		char bytes[sizeof(struct element_ring) + 200 * sizeof(struct tuple)];
	} scratch;
	struct collect_thread saved = collect_self;
	uint64_t best = UINT64_MAX;

	collect_self.entry = &no_entry;
	element_writer_init(&collect_self.writers[CHANNEL_ENV], &scratch.ring, 200);
	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t ns = clock_mono_ns();

		for (int i = 0; i < EVENTS; i++) {
			struct tuple t = {.op = 1, .bytes = (uint64_t)i};

			if (collect_enter(CHANNEL_ENV) != COLLECT_RECORD)
				break;
			collect_begin(&t);
			t.end = collect_now();
			collect_end(&t, CHANNEL_ENV);
		}
		ns = clock_mono_ns() - ns;
		if (ns < best)
			best = ns;
	}
	collect_self = saved;
	memset(&no_entry, 0, sizeof(no_entry));
	return (uint32_t)(best * 1000 / EVENTS);
}

int collect_start(const struct segment_plan *plan, struct error *e)
{
	struct collect_thread *self = &collect_self;
	struct segment s;

	if (!exit_key_made && pthread_key_create(&exit_key, thread_ended) == 0) {
		exit_key_made = exit_key < INLINE_KEYS;
		if (!exit_key_made)
			pthread_key_delete(exit_key);
	}
	if (segment_create(&s, plan, e) < 0)
		return -1;
	for (int i = 0; i < CHANNEL_MAX; i++)
		collect.capacity[i] = plan->capacity[i] ? plan->capacity[i] : SEGMENT_CAPACITY;
	collect.clock = clock_kind();
	collect.mode =
		((struct segment_control *)(void *)((char *)s.header + s.layout.control_at))->mode;
	s.header->cost_ps = cost_measure();
	collect.segment = s;
	thread_attach(self, (uint32_t)getpid());
	return 0;
}

void collect_abandon(void)
{
	const int access = PROT_READ | PROT_WRITE;
	const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	struct segment *s = &collect.segment;

	if (!s->header)
		return;
	/* memory of our own in its place: what is under way in this thread may still write there */
	/* cppcheck-suppress [invalidFunctionArg, leakReturnValNotUsed] */
	mmap(s->header, s->size, access, kind, -1, 0);
	s->header = NULL;
	/* what is under way ends on those pages; then no element can be prepared any more */
	if (!collect_self.inside)
		memset(&collect_self, 0, sizeof(collect_self));
}

void collect_stop(void)
{
	segment_close(&collect.segment);
	memset(&collect, 0, sizeof(collect));
	memset(&collect_self, 0, sizeof(collect_self));
	atomic_store(&free_entries, 0);
}
