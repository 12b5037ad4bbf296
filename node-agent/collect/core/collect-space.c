/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds or makes the element that a thread writes to, when the path does not know it yet; a SIGBUS
 * handler for faults in the segment passes others on to the handler before it. */
#include "node-agent/collect/core/collect-space.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/modules.h"
#include "node-agent/collect/core/properties.h"

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

/* What the map says of this thread's elements of the channel by their name. */
static struct property property_of(unsigned channel)
{
	if (!collect.properties)
		return (struct property){.mode = -1};
	return properties_of(collect.properties, collect_self.index, channel);
}

/* Find or make this thread's element with @key. False: there is no room. */
static bool element_prepare(struct element_writer *w, unsigned channel, uint64_t key)
{
	const struct property says = property_of(channel);
	const struct segment_element like = {
		.capacity = says.capacity ? says.capacity : collect.capacity[channel],
		.thread = collect_self.index,
		.channel = (uint16_t)channel,
		.split = collect.split[channel],
		.key = key,
	};
	const struct segment_element *element = element_find(&like);
	struct segment *s = collect_self.segment;
	const struct element_ring *ring;
	struct segment_element taken;

	if (!element) {
		element = segment_element_add(s, &like);
		if (element && says.lifetime_ns)
			segment_lifetime_set(s, element, says.lifetime_ns);
	}
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

/* What takes the place of "seg" in the segment's file name. */
#define WORD "refused-cut-off"

static struct sigaction before;
static char word[sizeof(collect.segment->path) + sizeof(WORD)];

/* The segment whose faults are caught: collect.segment, but set before that is. */
static const struct segment *_Atomic guarded;
static void (*lost_notice)(void);
static atomic_bool lost;

bool collect_fault_replace(const struct segment *s)
{
	const int access = PROT_READ | PROT_WRITE;
	const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;

	/* cppcheck-suppress [invalidFunctionArg, leakReturnValNotUsed] */
	return mmap(s->header, s->size, access, kind, -1, 0) != MAP_FAILED;
}

/* The address of the header stays valid: other threads may be about to read it. */
static bool forsake(const void *address)
{
	const struct segment *s = guarded;
	uintptr_t at = (uintptr_t)address, begin = s ? (uintptr_t)s->header : 0;

	if (!begin || at < begin || at - begin >= s->size)
		return false;
	lost = true;
	lost_notice();
	return collect_fault_replace(s);
}

/* The default action, for a signal that was sent and for a fault. */
static void pass_default(int number, const siginfo_t *info)
{
	const struct sigaction again = {.sa_handler = SIG_DFL};
	bool sent = info->si_code <= 0;

	if (sent && before.sa_handler == SIG_IGN)
		return;
	sigaction(number, &again, NULL);
	/* a fault repeats with the access, and ends the program even if SIGBUS is ignored */
	if (sent)
		raise(number);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction once = {.sa_handler = SIG_DFL};

	if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN) {
		pass_default(number, info);
		return;
	}
	if (before.sa_flags & SA_RESETHAND)
		sigaction(number, &once, NULL);
	if (before.sa_flags & SA_SIGINFO)
		before.sa_sigaction(number, info, context);
	else
		before.sa_handler(number);
}

static void caught(int number, siginfo_t *info, void *context)
{
	int saved = errno, fd;

	if (info->si_code != BUS_ADRERR || !forsake(info->si_addr)) {
		pass_on(number, info, context);
		return;
	}
	fd = open(word, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	errno = saved;
}

static void word_make(const char *path)
{
	const char *end = strrchr(path, '.');

	snprintf(word, sizeof(word), "%.*s" WORD, end ? (int)(end + 1 - path) : 0, path);
}

bool collect_fault_lost(void)
{
	return lost;
}

void collect_fault_forget(void)
{
	guarded = NULL;
}

void collect_fault_catch(const struct segment *s, void (*notice)(void))
{
	static bool catching;
	struct sigaction action;

	word_make(s->path);
	lost = false;
	lost_notice = notice;
	guarded = s;
	if (catching || sigaction(SIGBUS, NULL, &before) < 0)
		return;
	/* keep the stack and the mask of the handler before */
	action = before;
	action.sa_flags &= SA_ONSTACK | SA_RESTART | SA_NODEFER;
	if (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN)
		action.sa_flags = SA_ONSTACK | SA_RESTART;
	action.sa_flags |= SA_SIGINFO;
	action.sa_sigaction = caught;
	catching = sigaction(SIGBUS, &action, NULL) == 0;
}
