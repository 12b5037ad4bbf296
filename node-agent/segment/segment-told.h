/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process is told about itself: agents write it on a page of its own, behind the marks, and
 * the program reads it by evspace-figures.h. */
#ifndef EVSPACE_SEGMENT_TOLD_H
#define EVSPACE_SEGMENT_TOLD_H

#include <stdatomic.h>
#include <stdint.h>

#include "node-agent/segment/segment.h"

/** Views of which a process is told the newest wave, and operations of each. */
#define SEGMENT_TOLD_VIEWS 4u
#define SEGMENT_TOLD_OPS   16u
#define SEGMENT_TOLD_NAME  64u

/** What whoever keeps a budget says. Figures that are not known are NAN. */
struct segment_told_budget {
	uint64_t mono_ns; /* when it was said: CLOCK_MONOTONIC; 0: nobody has said anything */
	uint64_t for_ns;  /* it holds for so long */
	double budget, slowdown, low, high; /* shares of the program's time */
	double rate_hz;			    /* looks a second */
};

/** What a wave has read of an operation of this process. */
struct segment_told_op {
	uint64_t op, count, bytes, sum_ns, most_ns;
};

/** The newest wave of a view. */
struct segment_told_view {
	uint64_t mono_ns; /* when it was read; 0: none */
	uint64_t wave;
	uint64_t over_ns; /* since the wave before; 0: not known */
	char view[SEGMENT_TOLD_NAME];
	struct segment_told_op ops[SEGMENT_TOLD_OPS]; /* up to the first without a count */
};

/** Words of such a record on the page: its own, and their check sum. */
#define SEGMENT_TOLD_WORDS(type) (sizeof(type) / sizeof(uint64_t) + 1)

/**
 * The page. A record is there if its check sum is right. So a reader need not wait for who writes,
 * several agents may write at once, or one die halfway: what is not whole is not there.
 */
struct segment_told {
	_Atomic uint64_t budget[SEGMENT_TOLD_WORDS(struct segment_told_budget)];
	_Atomic uint64_t views[SEGMENT_TOLD_VIEWS][SEGMENT_TOLD_WORDS(struct segment_told_view)];
};

_Static_assert(sizeof(struct segment_told) <= SEGMENT_PAGE, "it is one page");

/** Where the page is in a segment of this layout. */
uint64_t segment_told_place(const struct segment_layout *layout);

/** The program: its own page. */
struct segment_told *segment_told_own(const struct segment *s);

/** Agents: map the page writable. Returns NULL with errno (ENOTSUP: the segment has none). Unmapped
 * by segment_told_unmap(). */
struct segment_told *segment_told_map(const struct segment *s);
void segment_told_unmap(struct segment_told *told);

/** Agents, from within segment_guarded(): write a record, as a whole. */
void segment_told_put_budget(struct segment_told *told, const struct segment_told_budget *budget);

/** The same in the place of the view of its name, else in that of the oldest one. */
void segment_told_put_view(struct segment_told *told, const struct segment_told_view *view);

/** Copy a record. Returns 1, or 0 when there is none. What it says may be anything, but that it is
 * of the future. */
int segment_told_budget(const struct segment_told *told, struct segment_told_budget *budget);
int segment_told_view(const struct segment_told *told, unsigned i, struct segment_told_view *view);

#endif
