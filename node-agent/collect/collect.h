/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's path: what is done at the begin and the end of each operation (DESIGN 2.1, 5). */
#ifndef EVSPACE_COLLECT_H
#define EVSPACE_COLLECT_H

#include <stdbool.h>

#include "node-agent/segment.h"

/** What a thread needs to write its elements. All zero in a thread that has not written yet. */
struct collect_thread {
	struct segment_thread *entry;		      /* set before any writer is */
	struct element_writer writers[CHANNEL_COUNT]; /* ring NULL: not made yet */
	uint32_t inside;   /* an operation is under way: what it calls is not recorded */
	uint32_t spilling; /* bit per channel: written to the overflow element */
	uint32_t index;	   /* in the segment's thread table */
};

/** What a process needs. */
struct collect {
	struct segment segment;	     /* header NULL: nothing is collected */
	const _Atomic uint8_t *mode; /* per channel, enum segment_mode */
	enum clock_kind clock;
	uint32_t capacity[CHANNEL_MAX];
};

extern struct collect collect;
extern __thread struct collect_thread collect_self __attribute__((tls_model("initial-exec")));

/**
 * Make the process's segment by @plan and this thread its thread 0; measure what an event costs.
 * Not part of the path: it makes system calls. Returns 0, or -1 with errno and @e; the path then
 * does nothing.
 */
int collect_start(const struct segment_plan *plan, struct error *e);

/** In a forked child: let go of the parent's segment. Operations under way in this thread end in
 * vain. */
void collect_abandon(void);

/** Unmap the segment; for tests and benches, where no other thread collects. */
void collect_stop(void);

/**
 * Make this thread's element for @channel from the segment's reserve: no system call, lock or
 * allocation. Without room the thread writes to the overflow element. False: nothing is collected.
 */
bool collect_prepare(unsigned channel);

/** Count a tuple on the overflow element. */
void collect_spill(void);

/** Now, on the process's clock. */
static inline uint64_t collect_now(void)
{
	return clock_ticks(collect.clock);
}

/** What collect_enter() found. */
enum collect_entry {
	COLLECT_NESTED, /* called from within an operation: just make the real call */
	COLLECT_PASS,	/* not collected: make the real call, then collect_leave() */
	COLLECT_RECORD, /* record it: collect_begin() and collect_end(), or collect_poll() */
};

/** Enter an operation of @channel. */
static inline enum collect_entry collect_enter(unsigned channel)
{
	struct collect_thread *self = &collect_self;

	if (__builtin_expect(self->inside, 0))
		return COLLECT_NESTED;
	self->inside = 1;
	if (__builtin_expect(!self->writers[channel].ring, 0) && !collect_prepare(channel))
		return COLLECT_PASS;
	return atomic_load_explicit(&collect.mode[channel], memory_order_relaxed) == MODE_TRACE
		       ? COLLECT_RECORD
		       : COLLECT_PASS;
}

static inline void collect_leave(void)
{
	collect_self.inside = 0;
}

/** Begin @t (all but its times are set): take the time, and show in the state line what is going
 * on. */
static inline __attribute__((always_inline)) void collect_begin(struct tuple *t)
{
	struct segment_state *line = &collect_self.entry->state;

	t->start = collect_now();
	/* the words of this operation are not seen before the end of the last one (`what` 0) */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&line->bytes, t->bytes, memory_order_relaxed);
	atomic_store_explicit(&line->whom, element_word((uint32_t)t->peer, t->seq_or_tag),
			      memory_order_relaxed);
	atomic_store_explicit(&line->since, t->start, memory_order_relaxed);
	atomic_store_explicit(&line->what, element_word(t->comm, element_half(t->op, t->flags)),
			      memory_order_release);
}

/** Append @t to this thread's element of @channel, whose writer exists, and count it. */
static inline __attribute__((always_inline)) void collect_append(const struct tuple *t,
								 unsigned channel)
{
	struct collect_thread *self = &collect_self;
	struct segment_counter *count = &self->entry->counters[channel];

	element_write(&self->writers[channel], t);
	atomic_store_explicit(&count->events,
			      atomic_load_explicit(&count->events, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&count->bytes,
			      atomic_load_explicit(&count->bytes, memory_order_relaxed) + t->bytes,
			      memory_order_relaxed);
	if (__builtin_expect(self->spilling >> channel & 1, 0))
		collect_spill();
}

/** Append @t, which belongs to the operation that was entered, to @channel if that is collected. */
static inline void collect_extra(const struct tuple *t, unsigned channel)
{
	if (!collect_self.writers[channel].ring && !collect_prepare(channel))
		return;
	if (atomic_load_explicit(&collect.mode[channel], memory_order_relaxed) == MODE_TRACE)
		collect_append(t, channel);
}

/** End the operation that began with @t, its `end` set: append it, clear the state line, leave. */
static inline __attribute__((always_inline)) void collect_end(const struct tuple *t,
							      unsigned channel)
{
	collect_append(t, channel);
	atomic_store_explicit(&collect_self.entry->state.what, 0, memory_order_relaxed);
	collect_leave();
}

/** Leave a poll that found nothing: it is counted in the state line and leaves no tuple. */
static inline void collect_poll(void)
{
	_Atomic uint64_t *polls = &collect_self.entry->state.polls;

	atomic_store_explicit(polls, atomic_load_explicit(polls, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	collect_leave();
}

#endif
