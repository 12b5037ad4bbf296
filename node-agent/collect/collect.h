/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector's path: what is done at the begin and the end of each operation (DESIGN 2.1, 5). */
#ifndef EVSPACE_COLLECT_H
#define EVSPACE_COLLECT_H

#include <stdbool.h>
#include <string.h>

#include "node-agent/segment-class.h"
#include "node-agent/segment.h"

/** What a thread is doing; beyond these, it is inside an operation whose mode is the difference. */
#define COLLECT_NEW	0u /* it has no entry in the segment yet */
#define COLLECT_CAREFUL 1u /* idle, and all it enters is entered out of line */
#define COLLECT_IDLE	2u
#define COLLECT_INSIDE	3u

/** The mode, in a thread's state only, of what is traced with another clock than the TSC. */
#define COLLECT_TRACE_MONO MODE_COUNT_OF

/** What a thread needs to write its elements. All zero in a thread that has not written yet. */
struct collect_thread {
	uint32_t state; /* COLLECT_NEW, _CAREFUL, _IDLE, or COLLECT_INSIDE + enum segment_mode */
	uint32_t idle;	/* what it is outside of operations: COLLECT_CAREFUL or COLLECT_IDLE */
	struct segment_thread *entry;		      /* set before the state leaves COLLECT_NEW */
	struct segment_count *counts;		      /* by class */
	struct element_writer writers[CHANNEL_COUNT]; /* next is end: see collect_append_slow() */
	uint32_t index;				      /* in the segment's thread table */
	uint32_t spilling; /* bit per channel: there is no room for its element */
	const void *site;  /* where the operation was called from, if collect.sites */
};

/** The numbers of a communicator's classes; SEGMENT_CLASS_FRESH: not made yet. */
struct collect_classes {
	uint32_t comm; /* its id; 0: none on record */
	_Atomic uint16_t of[CHANNEL_MAX];
};

/** What a process needs. */
struct collect {
	const _Atomic uint8_t *mode; /* by class, enum segment_mode; never NULL */
	bool sites;		     /* some channel is split by call sites */
	enum clock_kind clock;
	struct segment segment; /* header NULL: nothing is collected */
	uint32_t capacity[CHANNEL_MAX];
	uint8_t split[CHANNEL_MAX]; /* enum segment_split */
};

extern struct collect collect;
#ifdef EVSPACE_DOOR
/* It lies in the door (door.h): what is loaded later gets no such memory. */
extern __thread struct collect_thread collect_self __asm__("evspace_door_thread")
	__attribute__((tls_model("initial-exec"), visibility("default")));
#else
extern __thread struct collect_thread collect_self __attribute__((tls_model("initial-exec")));
#endif

/** The classes of operations that are on no communicator. */
extern struct collect_classes collect_none;

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

/** Prepare the classes of the communicator with @comm as id. */
void collect_classes_init(struct collect_classes *classes, uint32_t comm);

/** Now, on the process's clock. */
static inline uint64_t collect_now(void)
{
	return clock_ticks(collect.clock);
}

/** What collect_enter() found. */
enum collect_entry {
	COLLECT_PASS,	/* off, or not collected: make the real call, nothing is to be left */
	COLLECT_NESTED, /* called from within an operation: just make the real call */
	COLLECT_RECORD, /* go on with collect_begin() and _end(), or _poll(), or _leave() */
};

/* What is rare is out of line: new threads, classes and elements, and most modes. Tuples go there
 * by words, so that they can stay in registers as long as nothing is rare. */
enum collect_entry collect_enter_slow(struct collect_classes *classes, unsigned channel,
				      const void *site);
void collect_append_slow(uint64_t start, uint64_t end, uint64_t bytes, uint64_t whom, uint64_t what,
			 unsigned channel);
void collect_end_slow(const struct tuple *t, unsigned class, unsigned channel);
void collect_extra_slow(const struct tuple *t, struct collect_classes *classes, unsigned channel);

/** The class of @channel on the communicator: to be used at once, it may be made with the next
 * call. */
static inline unsigned collect_class(const struct collect_classes *classes, unsigned channel)
{
	return atomic_load_explicit(&classes->of[channel], memory_order_relaxed);
}

static inline unsigned collect_mode(unsigned class)
{
	return atomic_load_explicit(&collect.mode[class], memory_order_relaxed);
}

/** Enter an operation of @channel on the communicator with @classes. */
static inline __attribute__((always_inline)) enum collect_entry collect_enter(
	struct collect_classes *classes, unsigned channel)
{
	struct collect_thread *self = &collect_self;
	unsigned mode = collect_mode(collect_class(classes, channel));

	if (mode == MODE_OFF)
		return COLLECT_PASS;
	if (__builtin_expect(mode >= MODE_COUNT_OF || self->state != COLLECT_IDLE, 0))
		return collect_enter_slow(classes, channel, __builtin_return_address(0));
	self->state = COLLECT_INSIDE + mode;
	atomic_signal_fence(memory_order_seq_cst);
	return COLLECT_RECORD;
}

/**
 * Enter an operation that itself leaves nothing, to keep book or to add what belongs to other
 * classes. False: it is nested or nothing is collected; else collect_leave() ends it.
 */
bool collect_enter_quietly(void);

/* Has the class, which may not have been made yet, a mode that is not off? */
bool collect_wants_slow(struct collect_classes *classes, unsigned channel);

/** Is anything collected of operations of @channel on the communicator with @classes? */
static inline bool collect_wants(struct collect_classes *classes, unsigned channel)
{
	unsigned mode = collect_mode(collect_class(classes, channel));

	return mode != MODE_FRESH ? mode != MODE_OFF : collect_wants_slow(classes, channel);
}

/** Leave the operation that was entered. */
static inline void collect_leave(void)
{
	/* a signal handler that calls the library enters only when all of this one is written */
	atomic_signal_fence(memory_order_seq_cst);
	collect_self.state = collect_self.idle;
}

/* A tuple's words, and back. A word that was stored in halves makes who loads it whole wait. */
static inline uint64_t collect_whom(const struct tuple *t)
{
	uint64_t word;

	memcpy(&word, &t->peer, sizeof(word));
	return word;
}

static inline uint64_t collect_what(const struct tuple *t)
{
	uint64_t word;

	memcpy(&word, &t->comm, sizeof(word));
	return word;
}

static inline void collect_words(struct tuple *t, uint64_t bytes, uint64_t whom, uint64_t what)
{
	t->bytes = bytes;
	memcpy(&t->peer, &whom, sizeof(whom));
	memcpy(&t->comm, &what, sizeof(what));
}

/** Set all of @t but its times; no flags. */
static inline __attribute__((always_inline)) void collect_fill(struct tuple *t, uint16_t op,
							       uint32_t comm, int32_t peer,
							       uint32_t tag, uint64_t bytes)
{
	collect_words(t, bytes, element_word((uint32_t)peer, tag),
		      element_word(comm, element_half(op, 0)));
}

/* Show in the state line what is going on since @start. */
static inline __attribute__((always_inline)) void collect_show(const struct tuple *t,
							       uint64_t start)
{
	struct segment_state *line = &collect_self.entry->state;

	/* the words of this operation are not seen before the end of the last one (`what` 0) */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&line->bytes, t->bytes, memory_order_relaxed);
	atomic_store_explicit(&line->whom, collect_whom(t), memory_order_relaxed);
	atomic_store_explicit(&line->since, start, memory_order_relaxed);
	atomic_store_explicit(&line->what, collect_what(t), memory_order_release);
}

/** Begin @t (all but its times are set): take the time, and show in the state line what is going
 * on. */
static inline __attribute__((always_inline)) void collect_begin(struct tuple *t)
{
	if (__builtin_expect(collect_self.state == COLLECT_INSIDE + MODE_COUNT, 0)) {
		t->start = t->end = 0;
		return;
	}
	t->start = collect_now();
	collect_show(t, t->start);
}

/** Take the time of the end of @t, if the mode needs it. */
static inline __attribute__((always_inline)) void collect_stamp(struct tuple *t)
{
	const uint32_t state = collect_self.state;

	t->end = 0;
	if (__builtin_expect(state != COLLECT_INSIDE + MODE_COUNT &&
				     state != COLLECT_INSIDE + MODE_SAMPLE,
			     1))
		t->end = collect_now();
}

static inline void collect_add(_Atomic uint64_t *to, uint64_t n)
{
	/* this thread alone writes here */
#if defined(__x86_64__)
	__asm__("addq %1, %0" : "+m"(*to) : "er"(n) : "cc");
#else
	atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n,
			      memory_order_relaxed);
#endif
}

/** Append @t to this thread's element of @channel and count it in @class. */
static inline __attribute__((always_inline)) void collect_append(const struct tuple *t,
								 unsigned channel, unsigned class)
{
	struct collect_thread *self = &collect_self;
	struct element_writer *w = &self->writers[channel];
	struct segment_count *count = &self->counts[class];

	collect_add(&count->calls, 1);
	collect_add(&count->bytes, t->bytes);
	if (__builtin_expect(w->next != w->end, 1))
		element_put(w, t->start, t->end, t->bytes, collect_whom(t), collect_what(t));
	else
		collect_append_slow(t->start, t->end, t->bytes, collect_whom(t), collect_what(t),
				    channel);
}

/** Add @t, which belongs to the operation that was entered, in the mode of its own class. */
static inline void collect_extra(const struct tuple *t, struct collect_classes *classes,
				 unsigned channel)
{
	unsigned class = collect_class(classes, channel);

	if (__builtin_expect(collect_mode(class) == MODE_TRACE, 1))
		collect_append(t, channel, class);
	else
		collect_extra_slow(t, classes, channel);
}

/** End the operation that began with @t, stamped: append it, clear the state line, leave. */
static inline __attribute__((always_inline)) void collect_end(const struct tuple *t,
							      const struct collect_classes *classes,
							      unsigned channel)
{
	const uint32_t state = collect_self.state;
	unsigned class = collect_class(classes, channel);
	struct segment_count *count = &collect_self.counts[class];

	if (__builtin_expect(state == COLLECT_INSIDE + MODE_COUNT, 0)) {
		collect_add(&count->calls, 1);
		collect_add(&count->bytes, t->bytes);
		collect_add(&count->skipped, 1);
	} else {
		if (__builtin_expect(state == COLLECT_INSIDE + MODE_TRACE, 1))
			collect_append(t, channel, class);
		else
			collect_end_slow(t, class, channel);
		atomic_store_explicit(&collect_self.entry->state.what, 0, memory_order_relaxed);
	}
	collect_leave();
}

/** Leave a poll that found nothing: it is counted in the state line and leaves no tuple. */
static inline void collect_poll(void)
{
	collect_add(&collect_self.entry->state.polls, 1);
	collect_leave();
}

#endif
