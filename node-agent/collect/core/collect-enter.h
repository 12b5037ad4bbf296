/* SPDX-License-Identifier: BSD-3-Clause */
/* The begin of the collector's path, inline: may this operation be recorded, and how is it left? */
#ifndef EVSPACE_COLLECT_ENTER_H
#define EVSPACE_COLLECT_ENTER_H

#include "node-agent/collect/core/collect-thread.h"

/** Now, on the process's clock. */
static inline uint64_t collect_now(void)
{
	return clock_ticks(collect.clock);
}

/** What collect_enter() found. */
enum collect_entry {
	COLLECT_PASS,	/* off, or not collected: make the real call, nothing is to be left */
	COLLECT_NESTED, /* called from within an operation, and counted: just make the real call */
	COLLECT_RECORD, /* go on with collect_begin() and _end(), or _poll(), or _leave() */
};

/*
 * Whoever has entered may not come back: an error handler can throw, or longjmp(3). Where the
 * thread's next operation is called from shows that (collect_is_left()). Should the one that was
 * taken for left come back all the same, as on a stack of its own (sigaltstack(2), coroutines), its
 * end does nothing. What is called within another operation and what is left is counted, and leaves
 * no tuple. So all that an operation does is told who has called it.
 */

/* What is rare is out of line: new threads, classes and elements, and most modes. Tuples go there
 * by words, so that they can stay in registers as long as nothing is rare. */
enum collect_entry collect_enter_slow(struct collect_caller caller, struct collect_classes *classes,
				      unsigned channel);
void collect_append_slow(uint64_t start, uint64_t end, uint64_t bytes, uint64_t whom, uint64_t what,
			 unsigned where);
void collect_end_slow(const struct tuple *t, unsigned class, unsigned channel, unsigned mode);
void collect_extra_slow(const struct tuple *t, struct collect_classes *classes, unsigned channel);

/** The class of @channel on the communicator: to be used at once, it may be made with the next
 * call. */
static inline unsigned collect_class(const struct collect_classes *classes, unsigned channel)
{
	return atomic_load_explicit(&classes->of[channel], memory_order_relaxed);
}

/**
 * The same after the call: with several threads, the communicator may have been freed meanwhile
 * and its record be another one's, whose class is not made yet. Then that of none.
 */
static inline unsigned collect_class_after(const struct collect_classes *classes, unsigned channel)
{
	unsigned class = collect_class(classes, channel);

	if (__builtin_expect(class == SEGMENT_CLASS_FRESH, 0)) {
		class = channel;
		/* a jump: what follows need not wait, as it would for a conditional move */
		__asm__ volatile("");
	}
	return class;
}

static inline unsigned collect_mode(unsigned class)
{
	return atomic_load_explicit(&collect.mode[class], memory_order_relaxed);
}

/** The mode in which this thread is inside the operation that it has entered. */
static inline unsigned collect_mode_inside(void)
{
	return collect_self.state & 7;
}

/** Enter an operation of @channel on the communicator with @classes. */
static inline __attribute__((always_inline)) enum collect_entry collect_enter(
	struct collect_caller caller, struct collect_classes *classes, unsigned channel)
{
	struct collect_thread *self = &collect_self;
	unsigned mode = collect_mode(collect_class(classes, channel));

	if (mode == MODE_OFF)
		return COLLECT_PASS;
	if (__builtin_expect(mode >= MODE_COUNT_OF || self->state != COLLECT_IDLE, 0))
		return collect_enter_slow(caller, classes, channel);
	self->site = caller.site;
	atomic_signal_fence(memory_order_seq_cst);
	self->state = caller.frame + mode;
	atomic_signal_fence(memory_order_seq_cst);
	return COLLECT_RECORD;
}

/**
 * The same where the process may have another segment than this thread: it may have been another
 * PVM task when the thread entered last.
 */
static inline __attribute__((always_inline)) enum collect_entry collect_enter_any(
	struct collect_caller caller, struct collect_classes *classes, unsigned channel)
{
	if (__builtin_expect(collect_self.segment !=
				     atomic_load_explicit(&collect.segment, memory_order_relaxed),
			     0))
		return collect_enter_slow(caller, classes, channel);
	return collect_enter(caller, classes, channel);
}

/**
 * Enter an operation that itself leaves nothing, to keep book or to add what belongs to other
 * classes. False: it is nested or nothing is collected; else collect_leave() ends it.
 */
bool collect_enter_quietly(struct collect_caller caller);

/* Has the class, which may not have been made yet, a mode that is not off? */
bool collect_wants_slow(struct collect_classes *classes, unsigned channel);

/** Is anything collected of operations of @channel on the communicator with @classes? */
static inline bool collect_wants(struct collect_classes *classes, unsigned channel)
{
	unsigned mode = collect_mode(collect_class(classes, channel));

	return mode != MODE_FRESH ? mode != MODE_OFF : collect_wants_slow(classes, channel);
}

/** Leave the operation that was entered. */
static inline void collect_leave(struct collect_caller caller)
{
	/* a signal handler that calls the library enters only when all of this one is written */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(collect_self.state - caller.frame < 8, 1))
		collect_self.state = collect_self.idle;
}

/** Add to a number in shared memory that this thread alone writes. */
static inline void collect_add(_Atomic uint64_t *to, uint64_t n)
{
#if defined(__x86_64__)
	__asm__("addq %1, %0" : "+m"(*to) : "er"(n) : "cc");
#else
	atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n,
			      memory_order_relaxed);
#endif
}

/** Leave a poll that found nothing: it is counted in the state line and leaves no tuple. */
static inline void collect_poll(struct collect_caller caller)
{
	collect_add(&collect_self.entry->state.polls, 1);
	collect_leave(caller);
}

#endif
