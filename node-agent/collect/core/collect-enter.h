/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of the collector's path, inline: decides if an operation is recorded, and leaves it. */
#ifndef EVSPACE_COLLECT_ENTER_H
#define EVSPACE_COLLECT_ENTER_H

#include "node-agent/collect/core/collect-thread.h"
#include "node-agent/collect/core/collect-timing.h"

/** Now, on the process's clock. */
static inline uint64_t collect_now(void)
{
	return clock_ticks(collect.clock);
}

/** What collect_enter() found. */
enum collect_entry {
	COLLECT_PASS,	/* off, or not collected: make the real call, do not leave */
	COLLECT_NESTED, /* called within an operation, and counted: likewise */
	COLLECT_RECORD, /* continue with collect_begin() and _end(), or _poll(), or _leave() */
};

/*
 * An operation may never end: an error handler can throw, or longjmp(3). The caller of the thread's
 * next operation shows it (collect_is_left()). If an operation that was taken for left ends all the
 * same, as on a stack of its own (sigaltstack(2), coroutines), its end does nothing. Nested
 * operations and left ones are counted, and write no tuple. That is why all functions take the
 * caller.
 */

/* Rare cases are out of line: new threads, classes and elements, and most modes. They get tuples
 * by value, so that these can stay in registers in the common case. */
enum collect_entry collect_enter_slow(struct collect_caller caller, struct collect_classes *classes,
				      unsigned channel);
void collect_append_slow(uint64_t start, uint64_t end, uint64_t bytes, uint64_t whom, uint64_t what,
			 unsigned where);
void collect_end_slow(const struct tuple *t, unsigned class, unsigned channel, unsigned mode);
void collect_extra_slow(const struct tuple *t, struct collect_classes *classes, unsigned channel);

/** The class of @channel on the communicator. Use it at once: the next call may make it. */
static inline unsigned collect_class(const struct collect_classes *classes, unsigned channel)
{
	return atomic_load_explicit(&classes->of[channel], memory_order_relaxed);
}

/**
 * The same after the call. With several threads, the communicator may have been freed meanwhile and
 * its record reused by another whose class is not made yet: then the class of no communicator.
 */
static inline unsigned collect_class_after(const struct collect_classes *classes, unsigned channel)
{
	unsigned class = collect_class(classes, channel);

	if (__builtin_expect(class == SEGMENT_CLASS_FRESH, 0)) {
		class = channel;
		/* forces a jump: a conditional move would make what follows wait */
		__asm__ volatile("");
	}
	return class;
}

static inline unsigned collect_mode(unsigned class)
{
	const _Atomic uint8_t *mode = atomic_load_explicit(&collect.mode, memory_order_relaxed);

	return atomic_load_explicit(&mode[class], memory_order_relaxed);
}

/** The mode that this thread's operation was entered in. */
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

/** The same, if the process may have changed its segment since this thread entered last: it may
 * have become another PVM task. */
static inline __attribute__((always_inline)) enum collect_entry collect_enter_any(
	struct collect_caller caller, struct collect_classes *classes, unsigned channel)
{
	if (__builtin_expect(collect_self.segment !=
				     atomic_load_explicit(&collect.segment, memory_order_relaxed),
			     0))
		return collect_enter_slow(caller, classes, channel);
	return collect_enter(caller, classes, channel);
}

/** Enter an operation that writes no tuple itself, for bookkeeping or to add tuples of other
 * classes. False: it is nested or nothing is collected; else collect_leave() ends it. */
bool collect_enter_quietly(struct collect_caller caller);

/* The same if the class may not have been made yet. */
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
	/* a signal handler that calls the library may enter only after all of this is written */
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(collect_self.state - caller.frame < 8, 1))
		collect_self.state = collect_self.idle;
}

/** Add to a counter in shared memory that only this thread writes. */
static inline void collect_add(_Atomic uint64_t *to, uint64_t n)
{
#if defined(__x86_64__)
	__asm__("addq %1, %0" : "+m"(*to) : "er"(n) : "cc");
#else
	atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + n,
			      memory_order_relaxed);
#endif
}

/** Leave a poll that found nothing: it is counted in the state line and writes no tuple. */
static inline void collect_poll(struct collect_caller caller)
{
	collect_add(&collect_self.entry->state.polls, 1);
	collect_self.timing = 0;
	collect_leave(caller);
}

#endif
