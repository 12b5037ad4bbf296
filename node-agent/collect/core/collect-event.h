/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the collector's path: begin, stamp, end, after collect_enter() (collect-enter.h). */
#ifndef EVSPACE_COLLECT_EVENT_H
#define EVSPACE_COLLECT_EVENT_H

#include "node-agent/collect/core/collect-enter.h"
#include "node-agent/collect/core/collect-tuple.h"

/** Is it one in which the operation is only counted? */
static inline bool collect_counts_inside(void)
{
	return (collect_self.state & 3) == MODE_COUNT;
}

/* Write @t, under way since @start, to the state line. */
static inline __attribute__((always_inline)) void collect_show(const struct tuple *t,
							       uint64_t start)
{
	struct segment_state *line = &collect_self.entry->state;

	/* readers see the end of the last operation (`what` 0) before this one's words */
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&line->bytes, t->bytes, memory_order_relaxed);
	atomic_store_explicit(&line->whom, collect_whom(t), memory_order_relaxed);
	atomic_store_explicit(&line->since, start, memory_order_relaxed);
	atomic_store_explicit(&line->site, (uintptr_t)collect_self.site, memory_order_relaxed);
	atomic_store_explicit(&line->what, collect_what(t), memory_order_release);
}

/** Begin @t (all but its times are set): take the time, and write it to the state line. */
static inline __attribute__((always_inline)) void collect_begin(struct tuple *t)
{
	if (__builtin_expect(collect_counts_inside(), 0)) {
		t->start = t->end = 0;
		return;
	}
	t->start = collect_now();
	collect_show(t, t->start);
}

/** Take the time of the end of @t, if the mode needs it. */
static inline __attribute__((always_inline)) void collect_stamp(struct tuple *t)
{
	t->end = 0;
	if (__builtin_expect(!collect_counts_inside() && collect_mode_inside() != MODE_SAMPLE, 1))
		t->end = collect_now();
}

/** When the operation under way began, of which @t is: now, if it is one that is passed over but
 * what it has started may be recorded; 0 in a mode without a clock. */
static inline uint64_t collect_started(const struct tuple *t)
{
	return t->start || collect_mode_inside() != COLLECT_PASSED ? t->start : collect_now();
}

/* Class and channel in one word, for collect_append_slow(). */
static inline unsigned collect_where(unsigned class, unsigned channel)
{
	return class << 8 | channel;
}

/** Count @t in @class. */
static inline __attribute__((always_inline)) void collect_count(const struct tuple *t,
								unsigned class)
{
	struct segment_count *count = &collect_self.counts[class];

	collect_add(&count->calls, 1);
	collect_add(&count->bytes, t->bytes);
	collect_add(&count->ticks, t->end - t->start);
}

/** Write @t into this thread's element of @channel, which has a slot for it. */
static inline __attribute__((always_inline)) void collect_put(const struct tuple *t,
							      unsigned channel)
{
	element_put(&collect_self.writers[channel], t->start, t->end, t->bytes, collect_whom(t),
		    collect_what(t));
}

/** Append @t to this thread's element of @channel and count it in @class. */
static inline __attribute__((always_inline)) void collect_append(const struct tuple *t,
								 unsigned channel, unsigned class)
{
	const struct element_writer *w = &collect_self.writers[channel];

	collect_count(t, class);
	if (__builtin_expect(w->next != w->stop, 1))
		collect_put(t, channel);
	else
		collect_append_slow(t->start, t->end, t->bytes, collect_whom(t), collect_what(t),
				    collect_where(class, channel));
}

/** Add @t, a part of the operation that was entered, in the mode of @t's own class. */
static inline __attribute__((always_inline)) void collect_extra(const struct tuple *t,
								struct collect_classes *classes,
								unsigned channel)
{
	unsigned class = collect_class(classes, channel);

	if (__builtin_expect(collect_mode(class) == MODE_TRACE, 1)) {
		collect_append(t, channel, class);
	} else {
		/* a copy, so that *@t can stay in registers */
		const struct tuple copy = *t;

		collect_extra_slow(&copy, classes, channel);
	}
}

/** After the operation that lasted from @start to @end, of @channel: what it cost, if that is
 * measured (collect-timing.h). */
static inline __attribute__((always_inline)) void collect_cost(uint64_t start, uint64_t end,
							       unsigned channel)
{
	if (__builtin_expect(collect_self.timing != 0, 0))
		collect_timing_end(start, end, channel);
}

/** End the operation that began with @t, stamped: append it, clear the state line, leave. */
static inline __attribute__((always_inline)) void collect_end(struct collect_caller caller,
							      const struct tuple *t,
							      const struct collect_classes *classes,
							      unsigned channel)
{
	const uint64_t mode = collect_self.state - caller.frame;
	unsigned class = collect_class_after(classes, channel);
	struct segment_count *count = &collect_self.counts[class];

	if (__builtin_expect(mode == MODE_COUNT, 0)) {
		collect_add(&count->calls, 1);
		collect_add(&count->bytes, t->bytes);
		collect_add(&count->skipped, 1);
	} else {
		if (__builtin_expect(mode == MODE_TRACE, 1))
			collect_append(t, channel, class);
		else if (mode < 8)
			collect_end_slow(t, class, channel, (unsigned)mode);
		else
			return;
		atomic_store_explicit(&collect_self.entry->state.what, 0, memory_order_relaxed);
	}
	collect_leave(caller);
	collect_cost(t->start, t->end, channel);
}

#endif
