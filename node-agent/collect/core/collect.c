/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets a process and its threads up for collecting; everything here is off the path. */
#include "node-agent/collect/core/collect.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/collect/core/collect-space.h"
#include "node-agent/collect/core/modules.h"
#include "node-agent/collect/core/trial.h"

/** glibc keeps keys below this in the thread descriptor: setting one allocates nothing. */
#define INLINE_KEYS 32

/** No thread descriptor has its number behind this. */
#define TID_AT_MOST 4096u

/* Nothing is collected: neither before the segment is there nor in forked children. */
static const _Atomic uint8_t all_off[SEGMENT_CLASSES_MAX] = {
	[0 ... SEGMENT_CLASSES_MAX - 1] = MODE_OFF,
};

static struct collect_space nowhere;

struct collect collect = {.mode = all_off, .segment = &nowhere.segment};
#ifndef EVSPACE_DOOR
__thread struct collect_thread collect_self;
#endif

/* Threads beyond the reserve all write here what is never read, with atomic stores. Their counts
 * are added out of line to shared counts. */
static struct segment_thread no_entry;
static struct segment_count no_counts[SEGMENT_CLASSES_MAX];

static pthread_key_t exit_key;
static bool exit_key_made;

static struct segment_thread *entry_at(const struct segment *s, uint32_t index)
{
	char *table = (char *)s->header + s->layout.threads_at;

	return (struct segment_thread *)(void *)table + index;
}

/* A call that is not on record is counted. */
static void unrecorded(struct segment_header *header, _Atomic uint64_t *count,
		       enum segment_note why)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
	atomic_fetch_or_explicit(&header->note, why, memory_order_relaxed);
}

/* The thread's operation was left and will not end. */
static void operation_left(struct collect_thread *self)
{
	if (!self->entry)
		return;
	atomic_store_explicit(&self->entry->state.what, 0, memory_order_relaxed);
	/* a call by PMPI_X has set its place (DOOR_INNER) already */
	if (self->place == DOOR_ONWARD)
		self->place = DOOR_OUTSIDE;
	self->state = self->idle;
	self->timing = 0;
	unrecorded(self->segment->header, &self->segment->header->left, SEGMENT_NOTE_LEFT);
}

/* Is this call nested in the operation that the thread is inside? */
static bool is_nested(struct collect_thread *self, struct collect_caller caller)
{
	if (self->state <= COLLECT_IDLE)
		return false;
	if (!collect_is_left(self, caller.frame))
		return true;
	operation_left(self);
	return false;
}

/* At a thread's end (pthread_key_create(3)): another thread may reuse its entry and elements. */
static void thread_ended(void *arg)
{
	struct collect_thread *self = arg;

	/* pthread_exit(3) and pthread_cancel(3) leave its operation */
	if (self->state > COLLECT_IDLE)
		operation_left(self);
	if (self->entry && self->entry != &no_entry && self->index < 64)
		atomic_fetch_or_explicit(&collect_space_of(self->segment)->free_entries,
					 UINT64_C(1) << self->index, memory_order_release);
	memset(self, 0, sizeof(*self));
	/* destructors of others may still call the library; that is not recorded */
	self->state = COLLECT_ENDED;
}

static struct segment_thread *entry_reuse(struct collect_space *space)
{
	uint64_t bits = atomic_load_explicit(&space->free_entries, memory_order_relaxed);

	while (bits) {
		unsigned i = (unsigned)__builtin_ctzll(bits);

		if (atomic_compare_exchange_weak_explicit(
			    &space->free_entries, &bits, bits & ~(UINT64_C(1) << i),
			    memory_order_acquire, memory_order_relaxed))
			return entry_at(&space->segment, i);
	}
	return NULL;
}

/* Where glibc keeps the kernel's number of a thread, behind its pthread_self(), as it tells
 * debuggers that (nptl_db); 0: not known. It is looked up, and tried, by the first thread. */
static uint32_t tid_at;

/* The kernel's number of this thread, without a system call; 0: not known. */
static uint32_t thread_tid(void)
{
	uint32_t tid = 0;

	if (tid_at)
		memcpy(&tid, (const char *)pthread_self() + tid_at, sizeof(tid));
	return tid;
}

static void tid_find(void)
{
	const uint32_t *field = dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid");

	if (!field || field[0] != 32 || field[1] != 1 || field[2] > TID_AT_MOST)
		return;
	tid_at = field[2];
	if (thread_tid() != (uint32_t)gettid())
		tid_at = 0;
}

static void thread_attach(struct collect_thread *self, struct segment *s, uint32_t tid)
{
	uint32_t used = atomic_load_explicit(&s->header->threads, memory_order_relaxed);
	struct segment_thread *entry =
		used < s->layout.threads_max ? NULL : entry_reuse(collect_space_of(s));

	if (!entry && collect.bars && used >= s->layout.threads_max) {
		*self = (struct collect_thread){
			.segment = s, .place = self->place, .state = COLLECT_BARRED};
		return;
	}
	if (!entry)
		entry = segment_thread_add(s, tid);
	else
		entry->tid = tid;
	*self = (struct collect_thread){.segment = s, .place = self->place};
	self->entry = entry ? entry : &no_entry;
	self->index = entry ? (uint32_t)(entry - entry_at(s, 0)) : SEGMENT_NO_THREAD;
	self->counts = entry ? segment_counts_of(s, self->index) : no_counts;
	self->timed = entry ? segment_timed_of(s, self->index) : NULL;
	/* forget the regions that an ended thread left open in this entry */
	if (entry)
		memset(&entry->user, 0, sizeof(entry->user));
	/* the fast path reads its state line back, but threads without an entry share theirs */
	self->idle = collect_timing_idle(self);
	self->state = self->idle;
	if (exit_key_made)
		pthread_setspecific(exit_key, self);
}

static bool is_shared(void)
{
	return collect_self.entry == &no_entry;
}

void collect_append_slow(uint64_t start, uint64_t end, uint64_t bytes, uint64_t whom, uint64_t what,
			 unsigned where)
{
	struct tuple t = {.start = start, .end = end};

	collect_words(&t, bytes, whom, what);
	if (collect_space_write(&t, where & 0xff)) {
		collect_timing_written(where & 0xff);
		return;
	}
	segment_overflow_write(collect_self.segment);
	if (is_shared())
		segment_count_share(
			collect_self.segment, where >> 8,
			&(struct segment_sum){.calls = 1, .bytes = bytes, .ticks = end - start});
}

/* Is the word, in which all bits are random, one in 2^(mode - MODE_ONE_IN)? */
static bool is_chosen(uint64_t word, unsigned mode)
{
	return word >> (64 + MODE_ONE_IN - mode) == 0;
}

/* The same of all members: what is recorded of a collective is recorded of all of it. */
static bool is_number_chosen(uint32_t comm, uint32_t number, unsigned mode)
{
	uint64_t x = ((uint64_t)comm << 32 | number) + UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return is_chosen(x ^ x >> 31, mode);
}

/* Random, as every n-th one of a program that repeats itself would always be the same one. */
static bool is_next_chosen(unsigned mode)
{
	return is_chosen(collect_timing_random(), mode);
}

/* The mode of the next call of a class that records one in some. */
static unsigned reduced_mode(unsigned mode, const struct collect_classes *classes, unsigned channel)
{
	uint32_t next = atomic_load_explicit(&classes->next, memory_order_relaxed);
	bool numbered = channel == CHANNEL_COLLECTIVE && classes->numbered >> channel & 1;

	if (numbered ? is_number_chosen(classes->comm, next, mode) : is_next_chosen(mode))
		return MODE_TRACE;
	return COLLECT_PASSED;
}

/* The same of the completion @t. */
static unsigned reduced_extra(unsigned mode, const struct tuple *t)
{
	bool numbered = !(t->flags & (TUPLE_UNNUMBERED | TUPLE_UNATTRIBUTED)) &&
			op_channel(t->op) == CHANNEL_COLLECTIVE;

	if (numbered ? is_number_chosen(t->comm, t->seq_or_tag, mode) : is_next_chosen(mode))
		return MODE_TRACE;
	return MODE_COUNT;
}

/* Count a call that writes no tuple. */
static void skip(const struct tuple *t, unsigned class, unsigned mode)
{
	const struct segment_sum call = {
		.calls = 1,
		.bytes = t->bytes,
		.ticks = mode == MODE_TIME ? t->end - t->start : 0,
		.skipped = 1,
	};
	struct segment_count *count = &collect_self.counts[class];

	if (is_shared()) {
		segment_count_share(collect_self.segment, class, &call);
		return;
	}
	collect_add(&count->calls, call.calls);
	collect_add(&count->bytes, call.bytes);
	collect_add(&count->ticks, call.ticks);
	collect_add(&count->skipped, call.skipped);
	if (mode == MODE_SAMPLE || mode == COLLECT_PASSED)
		collect_timing_passed();
}

/* The class was off. Calls that were not even counted meanwhile are counted as one here, so that
 * who needs them all knows; collectives have no numbers any more (collect-class.c). */
static unsigned resumed(struct collect_classes *classes, unsigned class, unsigned channel)
{
	const struct tuple call = {0};
	unsigned mode = collect_class_resumed(classes, class, channel);

	if (!(classes->numbered >> channel & 1) && (class >= CHANNEL_MAX || !classes->comm))
		skip(&call, class, MODE_COUNT);
	return mode;
}

enum collect_entry collect_enter_slow(struct collect_caller caller, struct collect_classes *classes,
				      unsigned channel)
{
	struct collect_thread *self = &collect_self;
	struct segment *s = collect.segment;
	uint64_t since = collect_timing_since(self);
	unsigned class, mode;

	if (!s->header)
		return COLLECT_PASS;
	if (self->state == COLLECT_BARRED && self->segment == s)
		return COLLECT_PASS;
	if (is_nested(self, caller)) {
		if (collect.alone && collect_wants(classes, channel))
			unrecorded(s->header, &s->header->inside, SEGMENT_NOTE_INSIDE);
		return COLLECT_NESTED;
	}
	if (self->segment != s)
		thread_attach(self, s, thread_tid());
	if (self->state == COLLECT_BARRED)
		return COLLECT_PASS;
	class = collect_class_ready(classes, channel);
	mode = collect_mode(class);
	if (mode & MODE_MISSED)
		mode = resumed(classes, class, channel);
	if (mode == MODE_TRIAL)
		mode = collect_trial(caller, classes);
	if (mode > MODE_ONE_IN && mode <= MODE_ONE_IN + ONE_IN_MOST)
		mode = reduced_mode(mode, classes, channel);
	if (mode == MODE_OFF || (mode >= MODE_COUNT_OF && mode != COLLECT_PASSED))
		return COLLECT_PASS;
	if ((mode & 3) == MODE_COUNT && is_shared())
		mode = COLLECT_SHARED;
	else if (mode == MODE_TRACE && collect.clock != CLOCK_TICKS_TSC)
		mode = COLLECT_TRACE_MONO;
	self->extra = 0;
	if (since)
		mode = collect_timing_pass(mode, since);
	self->site = caller.site;
	atomic_signal_fence(memory_order_seq_cst);
	self->state = caller.frame + mode;
	atomic_signal_fence(memory_order_seq_cst);
	if (self->armed && !self->extra && (mode == MODE_TRACE || mode == COLLECT_TRACE_MONO))
		collect_timing_begin(channel);
	return COLLECT_RECORD;
}

bool collect_enter_quietly(struct collect_caller caller)
{
	struct collect_thread *self = &collect_self;
	struct segment *s = collect.segment;

	if (!s->header || is_nested(self, caller))
		return false;
	if (self->segment != s)
		thread_attach(self, s, thread_tid());
	if (self->state == COLLECT_BARRED)
		return false;
	self->site = caller.site;
	atomic_signal_fence(memory_order_seq_cst);
	self->state = caller.frame + MODE_OFF;
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

bool collect_wants_slow(struct collect_classes *classes, unsigned channel)
{
	return collect.segment->header &&
	       collect_mode(collect_class_ready(classes, channel)) != MODE_OFF;
}

void collect_end_slow(const struct tuple *t, unsigned class, unsigned channel, unsigned mode)
{
	if (mode == COLLECT_TRACE_MONO && !collect_self.extra)
		collect_append(t, channel, class);
	else
		skip(t, class, mode);
}

void collect_extra_slow(const struct tuple *t, struct collect_classes *classes, unsigned channel)
{
	unsigned class, mode;

	if (!collect.segment->header)
		return;
	class = collect_class_ready(classes, channel);
	mode = collect_mode(class);
	/* No operation enters by the channel of completions, so here is where it is seen to be
	 * on again. */
	if (mode & MODE_MISSED)
		mode = resumed(classes, class, channel);
	if (mode > MODE_ONE_IN && mode <= MODE_ONE_IN + ONE_IN_MOST)
		mode = reduced_extra(mode, t);
	if (mode == MODE_TRACE)
		collect_append(t, channel, class);
	else if (mode != MODE_OFF && mode < MODE_COUNT_OF)
		/* the operation that it comes with is what is timed */
		skip(t, class, mode == MODE_SAMPLE ? MODE_COUNT : mode);
}

int collect_start(const struct segment_plan *plan, struct error *e)
{
	struct collect_thread *self = &collect_self;
	struct collect_space *space = collect_space_new();
	bool split = false;
	struct segment *s;

	if (!space)
		return errorf(e, "no memory for the collector");
	s = &space->segment;
	if (!exit_key_made && pthread_key_create(&exit_key, thread_ended) == 0) {
		exit_key_made = exit_key < INLINE_KEYS;
		if (!exit_key_made)
			pthread_key_delete(exit_key);
	}
	if (segment_create(s, plan, e) < 0) {
		collect_space_free(space);
		return -1;
	}
	collect_fault_catch(s, collect_finish);
	collect.sites = false;
	for (int i = 0; i < CHANNEL_MAX; i++) {
		collect.capacity[i] = plan->capacity[i] ? plan->capacity[i] : SEGMENT_CAPACITY;
		collect.split[i] = plan->split[i];
		collect.sites |= plan->split[i] == SPLIT_SITE;
		split |= plan->split[i] != SPLIT_THREAD;
	}
	if (split)
		collect_space_split(space);
	collect.clock = clock_kind();
	modules_note_all(s);
	tid_find();
	thread_attach(self, s, (uint32_t)gettid());
	/* now other threads may collect */
	collect.segment = s;
	/* from now on the path collects */
	collect.mode =
		((struct segment_control *)(void *)((char *)s->header + s->layout.control_at))
			->mode;
	atomic_thread_fence(memory_order_seq_cst);
	/* the memory that replaced the file is zero, which says that everything is on */
	if (collect_fault_lost())
		collect_finish();
	return 0;
}

void collect_finish(void)
{
	collect.mode = all_off;
}

void collect_abandon(void)
{
	struct segment *s = collect.segment;

	if (!s->header)
		return;
	collect_finish();
	collect_fault_replace(s);
	collect_space_forget(collect_space_of(s));
	collect.segment = &nowhere.segment;
	/* operations under way end on those pages; later ones are not entered */
	if (collect_self.state <= COLLECT_IDLE)
		memset(&collect_self, 0, sizeof(collect_self));
}

void collect_stop(void)
{
	struct collect_space *space = collect_space_of(collect.segment);

	collect = (struct collect){.mode = all_off, .segment = &nowhere.segment};
	memset(&collect_self, 0, sizeof(collect_self));
	if (space == &nowhere)
		return;
	collect_fault_forget();
	segment_close(&space->segment);
	collect_space_free(space);
}
