/* SPDX-License-Identifier: BSD-3-Clause */
/* What `read sample` and `filter entropy` say: which samples tell enough to be kept, and how often
 * to take one. */
#ifndef EVSPACE_SAMPLING_H
#define EVSPACE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** Windows of samples: one event tells no repetition from a change (tree/data/entropy-window.h). */
#define SAMPLING_WINDOW_LEAST 2u
#define SAMPLING_WINDOW_MOST  16u
#define SAMPLING_WINDOW	      4u

/** Intervals between samples, in ns: the shortest and longest that may be asked for, and the
 * defaults. */
#define SAMPLING_LEAST_NS   UINT64_C(20000)
#define SAMPLING_MOST_NS    UINT64_C(10000000000)
#define SAMPLING_FASTEST_NS UINT64_C(100000)
#define SAMPLING_SLOWEST_NS UINT64_C(10000000)

/** Plain data. */
struct sampling {
	unsigned window;
	unsigned events;		 /* that can happen, as probable each; 0: as is known */
	double threshold;		 /* of S; 0: entropy_threshold() */
	uint64_t fastest_ns, slowest_ns; /* bounds of the interval */
};

/**
 * Read "window N threshold S events N", and if @timed "every TIME to TIME", in any order; what is
 * not said has its default. Returns 0, or -1 with what is valid in @e.
 */
int sampling_parse(struct sampling *sampling, const char *text, bool timed, struct error *e);

/** Do both say the same? */
bool sampling_same(const struct sampling *a, const struct sampling *b);

#endif
