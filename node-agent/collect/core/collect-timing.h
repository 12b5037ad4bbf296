/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collecting costs: a random one in 64 operations is timed in place, on the path that all
 * others take.
 *
 * A thread's writers stop before an event that is to be timed as they do at the end of a ring, so
 * that the path has no test more; out of line, the time is taken, and the operation goes on as any
 * other. Its own time is that up to its start and that since its end. Of the four readings of the
 * clock two are those of all operations, and between two readings lies the time of one: so the sum
 * is what an operation costs that is not timed. Operations whose elements are split, and rare ones,
 * are seen only at their ends: the next one of the channel is timed.
 *
 * Of operations in modes `sample` and `1/n` that write no event, one in 64 is timed as well: what
 * it costs to see them. It goes the way of a traced one, but for its event, and the time of
 * readings of the clock that others lack is taken off.
 */
#ifndef EVSPACE_COLLECT_TIMING_H
#define EVSPACE_COLLECT_TIMING_H

#include "node-agent/collect/core/collect-thread.h"

/** The writer of @channel stands at its stop, and an operation begins: time it if it is that one.
 * Returns whether there is a slot for its event now. */
bool collect_timing_room(unsigned channel);

/** An event of @channel was written out of line: is the next one to be timed? */
void collect_timing_written(unsigned channel);

/** An operation of @channel was just entered out of line: it is timed from now on, if it is the one
 * that is to be. */
void collect_timing_begin(unsigned channel);

/** An operation has written no event, and was in a mode in which these are timed: is the next one?
 */
void collect_timing_passed(void);

/** When an operation begins that may be timed though it writes no event, as the thread was told to
 * enter out of line; 0: that is not so. */
static inline uint64_t collect_timing_since(const struct collect_thread *self)
{
	return __builtin_expect(self->passes == 1, 0) ? clock_ticks(collect.clock) : 0;
}

/** An operation of @mode was just entered out of line, @since then: it is timed, if it is such a
 * one. Returns the mode to go on in. */
unsigned collect_timing_pass(unsigned mode, uint64_t since);

/** The operation that is timed lasted from @start to @end, and has been recorded. */
void collect_timing_end(uint64_t start, uint64_t end, unsigned channel);

/** A random number in which all bits are random, out of this thread's own memory (xorshift64*,
 * Vigna 2016). */
uint64_t collect_timing_random(void);

/** What @self is outside of operations: COLLECT_CAREFUL or COLLECT_IDLE. */
static inline uint8_t collect_timing_idle(const struct collect_thread *self)
{
	/* the fast path reads its state line back, but threads without an entry share theirs */
	if (self->armed || self->passes == 1 || self->index == SEGMENT_NO_THREAD || collect.sites ||
	    collect.clock != CLOCK_TICKS_TSC)
		return COLLECT_CAREFUL;
	return COLLECT_IDLE;
}

#endif
