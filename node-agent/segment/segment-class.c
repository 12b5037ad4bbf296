/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers classes of operations, switches their modes from outside, and sums their counts. */
#include "node-agent/segment/segment-class.h"

#include <stdbool.h>
#include <string.h>

/** How often a reader tries again when a class is reused meanwhile. */
#define READ_TRIES 4

static const char *const mode_names[MODE_COUNT_OF] = {
	[MODE_TRACE] = "trace", [MODE_OFF] = "off",	  [MODE_COUNT] = "count",
	[MODE_TIME] = "time",	[MODE_SAMPLE] = "sample",
};

const char *segment_mode_name(unsigned mode)
{
	if (mode == MODE_TRIAL)
		return "trial";
	if (mode < MODE_COUNT_OF)
		return mode_names[mode];
	return segment_mode_valid(mode) ? one_in_word(mode - MODE_ONE_IN) : "?";
}

int segment_mode_valid(unsigned mode)
{
	return mode < MODE_COUNT_OF || (mode > MODE_ONE_IN && mode <= MODE_ONE_IN + ONE_IN_MOST);
}

int segment_mode_find(const char *name)
{
	for (int i = 0; i < MODE_COUNT_OF; i++)
		if (strcmp(mode_names[i], name) == 0)
			return i;
	return one_in_find(name) ? MODE_ONE_IN + (int)one_in_find(name) : -1;
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

static struct segment_control *control_of(const struct segment *s)
{
	return (void *)((char *)s->header + s->layout.control_at);
}

static void class_fill(struct segment_class *c, uint32_t comm, unsigned channel)
{
	atomic_store_explicit(&c->comm, comm, memory_order_relaxed);
	c->channel = (uint16_t)channel;
	atomic_store_explicit(&c->used, SEGMENT_CLASS_USED, memory_order_release);
}

void segment_class_init(struct segment *s)
{
	for (unsigned channel = 0; channel < CHANNEL_MAX; channel++)
		class_fill(&table_of(s)[channel], 0, channel);
	atomic_store_explicit(&s->header->classes, CHANNEL_MAX, memory_order_release);
	atomic_store_explicit(&control_of(s)->mode[SEGMENT_CLASS_FRESH], MODE_FRESH,
			      memory_order_release);
}

static uint32_t class_use(const struct segment_class *c)
{
	return atomic_load_explicit(&c->used, memory_order_acquire);
}

/* volatile: the compiler must not read it twice, as in a damaged file it may change. */
static unsigned class_channel(const struct segment_class *c)
{
	return *(const volatile uint16_t *)&c->channel;
}

static uint32_t class_find(const struct segment *s, uint32_t comm, unsigned channel)
{
	uint32_t n = segment_classes(s);

	for (uint32_t i = CHANNEL_MAX; i < n; i++) {
		const struct segment_class *c = &table_of(s)[i];

		if (class_use(c) == SEGMENT_CLASS_USED && c->channel == channel &&
		    atomic_load_explicit(&c->comm, memory_order_relaxed) == comm)
			return i;
	}
	return UINT32_MAX;
}

/* ---- making ---- */

/* Set the first mode of a class. */
static uint8_t mode_begin(struct segment_control *control, uint32_t i, unsigned channel)
{
	uint8_t mode = atomic_load(&control->fresh[channel]);

	atomic_store(&control->mode[i], mode);
	return mode;
}

/* The class is complete, so switches from now on include it. Catch up with those that set the
 * mode of later classes since mode_begin(). */
static void mode_settle(struct segment_control *control, uint32_t i, unsigned channel, uint8_t mode)
{
	uint8_t now = atomic_load(&control->fresh[channel]);

	while (now != mode && atomic_compare_exchange_strong(&control->mode[i], &mode, now)) {
		mode = now;
		now = atomic_load(&control->fresh[channel]);
	}
}

static void sum_add(struct segment_sum *sum, const struct segment_count *count)
{
	sum->calls += atomic_load_explicit(&count->calls, memory_order_relaxed);
	sum->bytes += atomic_load_explicit(&count->bytes, memory_order_relaxed);
	sum->ticks += atomic_load_explicit(&count->ticks, memory_order_relaxed);
	sum->skipped += atomic_load_explicit(&count->skipped, memory_order_relaxed);
}

/* Over all threads. */
static struct segment_sum class_sum(const struct segment *s, uint32_t i)
{
	struct segment_sum sum = {.calls = 0};
	uint32_t threads = atomic_load_explicit(&s->header->threads, memory_order_relaxed);

	for (uint32_t t = 0; t < threads && t < s->layout.threads_max; t++)
		sum_add(&sum, segment_count(s, t, i));
	sum_add(&sum, segment_count(s, s->layout.threads_max, i));
	return sum;
}

/* Start class @i for @comm: what it has counted so far was on other communicators. */
static void class_begin(struct segment *s, uint32_t i, uint32_t comm)
{
	struct segment_class *c = &table_of(s)[i];
	const struct segment_sum sum = class_sum(s, i);

	atomic_fetch_add_explicit(&c->made, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&c->before.calls, sum.calls, memory_order_relaxed);
	atomic_store_explicit(&c->before.bytes, sum.bytes, memory_order_relaxed);
	atomic_store_explicit(&c->before.ticks, sum.ticks, memory_order_relaxed);
	atomic_store_explicit(&c->before.skipped, sum.skipped, memory_order_relaxed);
	atomic_store_explicit(&c->comm, comm, memory_order_relaxed);
	atomic_fetch_add_explicit(&c->made, 1, memory_order_release);
}

/* The class of @channel whose communicator was freed first, if there are more than @stay such
 * classes; else UINT32_MAX. */
static uint32_t class_left(const struct segment *s, unsigned channel, uint32_t stay)
{
	uint32_t n = segment_classes(s), found = UINT32_MAX, left = 0;
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = CHANNEL_MAX; i < n; i++) {
		const struct segment_class *c = &table_of(s)[i];
		uint64_t when = atomic_load_explicit(&c->left, memory_order_relaxed);

		if (class_use(c) != SEGMENT_CLASS_LEFT || c->channel != channel)
			continue;
		left++;
		if (when < oldest) {
			oldest = when;
			found = i;
		}
	}
	return left > stay ? found : UINT32_MAX;
}

/* Reuse a class of a freed communicator for @comm. Returns its number, or UINT32_MAX. */
static uint32_t class_again(struct segment *s, uint32_t comm, unsigned channel, uint32_t stay)
{
	struct segment_control *control = control_of(s);
	uint32_t left, i;
	uint8_t mode;

	/* repeats only when another thread was faster, so at most once for each thread */
	do {
		i = class_left(s, channel, stay);
		if (i == UINT32_MAX)
			return i;
		left = SEGMENT_CLASS_LEFT;
	} while (
		!atomic_compare_exchange_strong(&table_of(s)[i].used, &left, SEGMENT_CLASS_REMADE));
	mode = mode_begin(control, i, channel);
	class_begin(s, i, comm);
	atomic_store(&table_of(s)[i].used, SEGMENT_CLASS_USED);
	mode_settle(control, i, channel, mode);
	return i;
}

/* Make a class at the end of the table. Returns its number, or UINT32_MAX. */
static uint32_t class_new(struct segment *s, uint32_t comm, unsigned channel)
{
	struct segment_control *control = control_of(s);
	uint32_t i = atomic_load_explicit(&s->header->classes, memory_order_relaxed);
	uint8_t mode;

	do {
		if (i >= s->layout.classes_max)
			return UINT32_MAX;
	} while (!atomic_compare_exchange_weak_explicit(
		&s->header->classes, &i, i + 1, memory_order_relaxed, memory_order_relaxed));
	mode = mode_begin(control, i, channel);
	class_fill(&table_of(s)[i], comm, channel);
	mode_settle(control, i, channel, mode);
	return i;
}

uint32_t segment_class_make(struct segment *s, uint32_t comm, unsigned channel)
{
	uint32_t i = comm ? class_find(s, comm, channel) : channel;

	if (i == UINT32_MAX)
		i = class_again(s, comm, channel, SEGMENT_CLASSES_LEFT);
	if (i == UINT32_MAX)
		i = class_new(s, comm, channel);
	if (i == UINT32_MAX)
		i = class_again(s, comm, channel, 0);
	if (i != UINT32_MAX)
		return i;
	atomic_fetch_or_explicit(&s->header->note, SEGMENT_NOTE_CLASSES, memory_order_relaxed);
	return channel;
}

void segment_class_leave(struct segment *s, uint32_t comm)
{
	uint32_t n = segment_classes(s);

	for (uint32_t i = CHANNEL_MAX; i < n && comm; i++) {
		struct segment_class *c = &table_of(s)[i];

		if (class_use(c) != SEGMENT_CLASS_USED ||
		    atomic_load_explicit(&c->comm, memory_order_relaxed) != comm)
			continue;
		atomic_store_explicit(&c->left,
				      atomic_fetch_add_explicit(&s->header->classes_left, 1,
								memory_order_relaxed),
				      memory_order_relaxed);
		atomic_store_explicit(&c->used, SEGMENT_CLASS_LEFT, memory_order_release);
	}
}

unsigned segment_class_resume(struct segment *s, uint32_t class)
{
	_Atomic uint8_t *at = &control_of(s)->mode[class];
	uint8_t mode = atomic_load_explicit(at, memory_order_relaxed);

	while (mode != MODE_FRESH && mode & MODE_MISSED &&
	       !atomic_compare_exchange_weak(at, &mode, (uint8_t)(mode & ~MODE_MISSED)))
		;
	return mode == MODE_FRESH ? mode : mode & ~(unsigned)MODE_MISSED;
}

int segment_class_missed(const struct segment *s, unsigned channel)
{
	uint8_t mode = atomic_load_explicit(&control_of(s)->fresh[channel], memory_order_relaxed);

	return mode == MODE_OFF || mode & MODE_MISSED;
}

/* ---- counts ---- */

struct segment_count *segment_counts_of(struct segment *s, uint32_t thread)
{
	struct segment_count *table = (void *)((char *)s->header + s->layout.counts_at);

	return &table[(uint64_t)thread * s->layout.classes_max];
}

void segment_count_share(struct segment *s, uint32_t class, const struct segment_sum *call)
{
	struct segment_count *count = &segment_counts_of(s, s->layout.threads_max)[class];

	atomic_fetch_add_explicit(&count->calls, call->calls, memory_order_relaxed);
	atomic_fetch_add_explicit(&count->bytes, call->bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&count->ticks, call->ticks, memory_order_relaxed);
	atomic_fetch_add_explicit(&count->skipped, call->skipped, memory_order_relaxed);
}

uint32_t segment_classes(const struct segment *s)
{
	uint32_t used = atomic_load_explicit(&s->header->classes, memory_order_relaxed);

	return used < s->layout.classes_max ? used : s->layout.classes_max;
}

const struct segment_class *segment_class(const struct segment *s, uint32_t i)
{
	const struct segment_class *table = table_of(s);
	uint32_t use;

	if (i >= s->layout.classes_max)
		return NULL;
	use = class_use(&table[i]);
	return use >= SEGMENT_CLASS_USED && use <= SEGMENT_CLASS_REMADE ? &table[i] : NULL;
}

const struct segment_count *segment_count(const struct segment *s, uint32_t thread, uint32_t class)
{
	const struct segment_count *table =
		(const void *)((const char *)s->header + s->layout.counts_at);

	if (thread > s->layout.threads_max || class >= s->layout.classes_max)
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
		sum_add(sum, count);
	}
}

/* Limits `before` to `all`, which it exceeds only in a damaged file. */
static uint64_t part(uint64_t before, uint64_t all)
{
	return before < all ? before : all;
}

int segment_class_read(const struct segment *s, uint32_t i, struct segment_class_sum *sum)
{
	const struct segment_class *c = segment_class(s, i);
	struct segment_sum all;
	uint32_t made;

	if (!c)
		return -1;
	/* an inconsistent result only has the wrong communicator; the sums are right, so a few
	 * tries are enough */
	for (int tries = 0; tries < READ_TRIES; tries++) {
		made = atomic_load_explicit(&c->made, memory_order_acquire);
		*sum = (struct segment_class_sum){.channel = class_channel(c)};
		sum->mode = atomic_load_explicit(&control_of(s)->mode[i], memory_order_relaxed);
		sum->comm = atomic_load_explicit(&c->comm, memory_order_relaxed);
		sum_add(&sum->before, &c->before);
		/* counts only grow: read after `before`, they include it */
		atomic_thread_fence(memory_order_acquire);
		all = class_sum(s, i);
		atomic_thread_fence(memory_order_acquire);
		if (made % 2 == 0 && atomic_load_explicit(&c->made, memory_order_relaxed) == made)
			break;
	}
	sum->mode &= ~(unsigned)MODE_MISSED;
	sum->before.calls = part(sum->before.calls, all.calls);
	sum->before.bytes = part(sum->before.bytes, all.bytes);
	sum->before.ticks = part(sum->before.ticks, all.ticks);
	sum->before.skipped = part(sum->before.skipped, all.skipped);
	sum->own.calls = all.calls - sum->before.calls;
	sum->own.bytes = all.bytes - sum->before.bytes;
	sum->own.ticks = all.ticks - sum->before.ticks;
	sum->own.skipped = all.skipped - sum->before.skipped;
	return 0;
}

/* ---- switching ---- */

/* How often to look again after others have switched meanwhile. */
#define QUIET_TRIES 8

/* Find which channels are off as a whole. Reads what the program wrote only once, as it may
 * change. */
static void quiet_find(struct segment_control *control, const struct segment *s,
		       bool quiet[CHANNEL_MAX])
{
	for (int i = 0; i < CHANNEL_MAX; i++)
		quiet[i] = atomic_load(&control->fresh[i]) == MODE_OFF;
	for (uint32_t i = 0; i < segment_classes(s); i++) {
		const struct segment_class *c = segment_class(s, i);
		unsigned channel = c ? class_channel(c) : CHANNEL_MAX;

		if (channel < CHANNEL_MAX && atomic_load(&control->mode[i]) != MODE_OFF)
			quiet[channel] = false;
	}
}

void segment_class_quiet(struct segment_control *control, const struct segment *s)
{
	bool quiet[CHANNEL_MAX], now[CHANNEL_MAX];

	/* Repeat until nothing has changed meanwhile: other agents may be switching. */
	quiet_find(control, s, quiet);
	for (int tries = 0; tries < QUIET_TRIES; tries++) {
		for (int i = 0; i < CHANNEL_MAX; i++)
			atomic_store(&control->quiet[i], quiet[i]);
		quiet_find(control, s, now);
		if (memcmp(quiet, now, sizeof(now)) == 0)
			break;
		memcpy(quiet, now, sizeof(now));
	}
}

/* A class that was off has missed calls, and its program must know (collect_enter_slow()). */
static void mode_switch(_Atomic uint8_t *at, enum segment_mode mode)
{
	uint8_t old = atomic_load(at), new;

	do {
		bool missed = old == MODE_OFF || (old != MODE_FRESH && old & MODE_MISSED);

		new = (uint8_t)(missed && mode != MODE_OFF ? mode | MODE_MISSED : mode);
	} while (!atomic_compare_exchange_weak(at, &old, new));
}

/* The class that an experiment counts by stays at it, and has the mode in all arms that leave modes
 * alone. */
static bool trial_switch(struct segment_trial *t, uint32_t i, enum segment_mode mode)
{
	uint32_t its = atomic_load(&t->class);

	if (its != i + 1)
		return false;
	for (unsigned arm = 0; arm < TRIAL_ARMS_MAX; arm++) {
		uint8_t old = atomic_load(&t->mode[arm]);

		if (old != MODE_FRESH && old & MODE_LEFT)
			atomic_store(&t->mode[arm], (uint8_t)(MODE_LEFT | (unsigned)mode));
	}
	return true;
}

/* Switch class @i, which is @c. If @comm is given, only if the class is of that communicator; if
 * @only is not -1, only if it is of that channel. */
static bool class_switch(struct segment_control *control, const struct segment_class *c, uint32_t i,
			 int only, const uint32_t *comm, enum segment_mode mode)
{
	unsigned channel = class_channel(c);
	uint32_t made = atomic_load(&c->made);

	if (channel >= CHANNEL_MAX || (only >= 0 && channel != (unsigned)only))
		return false;
	if (comm && (atomic_load(&c->comm) != *comm || class_use(c) != SEGMENT_CLASS_USED))
		return false;
	if (trial_switch(&control->trial, i, mode))
		return true;
	mode_switch(&control->mode[i], mode);
	/* the class was reused for another communicator meanwhile */
	if (comm && atomic_load(&c->made) != made)
		atomic_store(&control->mode[i], atomic_load(&control->fresh[channel]));
	return true;
}

uint32_t segment_class_switch(struct segment_control *control, const struct segment *s, int channel,
			      const uint32_t *comm, enum segment_mode mode)
{
	uint32_t changed = 0;

	for (int i = 0; i < CHANNEL_MAX && !comm; i++)
		if (channel < 0 || channel == i)
			mode_switch(&control->fresh[i], mode);
	for (uint32_t i = 0; i < segment_classes(s); i++) {
		const struct segment_class *c = segment_class(s, i);

		changed += c && class_switch(control, c, i, channel, comm, mode);
	}
	return changed;
}
