/* SPDX-License-Identifier: BSD-3-Clause */
/* The fast path for an idle thread whose class is traced: as collect.h, without its checks. */
#ifndef EVSPACE_COLLECT_SWIFT_H
#define EVSPACE_COLLECT_SWIFT_H

#include "node-agent/collect/core/collect.h"

/** Which path an operation takes. */
enum collect_way {
	COLLECT_SWIFTLY, /* the functions of this header, from collect_swift_enter() on */
	COLLECT_NOT,	 /* its class is off: just make the real call */
	COLLECT_SLOWLY,	 /* the functions of collect.h, which check everything */
};

/** The path of an operation of @channel on the communicator with @classes. */
static inline __attribute__((always_inline)) enum collect_way collect_way(
	const struct collect_classes *classes, unsigned channel)
{
	unsigned mode = collect_mode(collect_class(classes, channel));

	if (__builtin_expect(mode == MODE_TRACE && collect_self.state == COLLECT_IDLE, 1))
		return COLLECT_SWIFTLY;
	return mode == MODE_OFF ? COLLECT_NOT : COLLECT_SLOWLY;
}

/** Enter an operation that takes this path. */
static inline void collect_swift_enter(struct collect_caller caller)
{
	/* a signal handler that enters sees where the operation was called from */
	collect_self.site = caller.site;
	atomic_signal_fence(memory_order_seq_cst);
	collect_self.state = caller.frame + MODE_TRACE;
	atomic_signal_fence(memory_order_seq_cst);
}

/**
 * Is there a slot for the tuple before the operation begins, so that the end need not check? Call
 * it after entering: then no signal handler can take the slot. If not, collect_swift_leave() and
 * take the slow path.
 */
static inline __attribute__((always_inline)) bool collect_swift_room(unsigned channel)
{
	const struct element_writer *w = &collect_self.writers[channel];

	return __builtin_expect(w->next != w->stop, 1) || collect_timing_room(channel);
}

/** Begin @t (all but its times are set). */
static inline __attribute__((always_inline)) void collect_swift_begin(struct tuple *t)
{
	collect_show(t, clock_ticks(CLOCK_TICKS_TSC));
}

/** After the real call: restore @t from the state line and set its times, so that nothing of it
 * need be kept during the call. */
static inline __attribute__((always_inline)) void collect_swift_stamp(struct tuple *t)
{
	const struct segment_state *line;

	t->end = clock_ticks(CLOCK_TICKS_TSC);
	line = &collect_self.entry->state;
	t->start = atomic_load_explicit(&line->since, memory_order_relaxed);
	collect_words(t, atomic_load_explicit(&line->bytes, memory_order_relaxed),
		      atomic_load_explicit(&line->whom, memory_order_relaxed),
		      atomic_load_explicit(&line->what, memory_order_relaxed));
}

static inline __attribute__((always_inline)) void collect_swift_leave(void)
{
	atomic_store_explicit(&collect_self.entry->state.what, 0, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	collect_self.state = COLLECT_IDLE;
}

/** Is this thread still inside the operation that it entered? */
static inline bool collect_swift_inside(struct collect_caller caller)
{
	return __builtin_expect(collect_self.state == caller.frame + MODE_TRACE, 1);
}

/** End the operation that began with @t, stamped. */
static inline __attribute__((always_inline)) void collect_swift_end(
	struct collect_caller caller, const struct tuple *t, const struct collect_classes *classes,
	unsigned channel)
{
	if (!collect_swift_inside(caller))
		return;
	collect_count(t, collect_class_after(classes, channel));
	collect_put(t, channel);
	collect_swift_leave();
	collect_cost(t->start, t->end, channel);
}

/** The same without collect_swift_room() before. */
static inline __attribute__((always_inline)) void collect_swift_end_late(
	struct collect_caller caller, const struct tuple *t, const struct collect_classes *classes,
	unsigned channel)
{
	if (!collect_swift_inside(caller))
		return;
	collect_append(t, channel, collect_class_after(classes, channel));
	collect_swift_leave();
	collect_cost(t->start, t->end, channel);
}

#endif
