/* SPDX-License-Identifier: BSD-3-Clause */
/* What collecting costs a process: sums over operations that were timed in place, a random one in
 * 64 of each thread and channel, beside the segment's other tables. */
#ifndef EVSPACE_SEGMENT_TIMED_H
#define EVSPACE_SEGMENT_TIMED_H

#include <stdatomic.h>
#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Of operations of a channel by a thread, which alone writes it. */
struct segment_timed {
	_Atomic uint64_t n;	  /* timed operations … */
	_Atomic uint64_t ticks;	  /* … the collector's own time in them … */
	_Atomic uint64_t squares; /* … the sum of its squares, in ticks² … */
	_Atomic uint64_t more;	 /* … and events that they wrote besides their own: completions */
	_Atomic uint64_t cut;	 /* operations that lasted beyond SEGMENT_TIMED_MOST: interrupted */
	_Atomic uint64_t passed; /* timed ones that wrote no event … */
	_Atomic uint64_t passed_ticks; /* … and the collector's own time in these */
	uint64_t spare;
};

_Static_assert(sizeof(struct segment_timed) == 64, "threads do not share cache lines");

/** Ticks from which on a time says that the thread was interrupted, by far more than the collector
 * needs: it is not in the sums. */
#define SEGMENT_TIMED_MOST (1u << 15)

/** A copy of such sums, of all threads of a process. */
struct segment_timed_sum {
	uint64_t n, ticks, squares, more, cut, passed, passed_ticks;
};

/** Where the table is in a segment of this layout, and its size: behind the labels. */
uint64_t segment_timed_place(const struct segment_layout *layout);
uint64_t segment_timed_bytes(const struct segment_layout *layout);

/** The sums of the process's own thread @thread, by channel. */
struct segment_timed *segment_timed_of(const struct segment *s, uint32_t thread);

/** Add the sums of all threads by channel to @sums; from within segment_guarded(). Those of a
 * segment without such a table are 0. */
void segment_timed_read(const struct segment *s, struct segment_timed_sum sums[CHANNEL_PROGRAMS]);

#endif
