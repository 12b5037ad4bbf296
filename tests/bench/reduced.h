/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reduced view costs its root and its consumer, beside a bare tree of the same shape. */
#ifndef EVSPACE_BENCH_REDUCED_H
#define EVSPACE_BENCH_REDUCED_H

#include "pathmap/base/error.h"
#include "tests/bench/bed.h"
#include "tests/bench/census.h"
#include "tests/bench/meter.h"

/** The view, of which each wave has one tuple, for the application map. */
#define REDUCED_VIEW                                                                          \
	"view reduced { select /**/p2p; read latest; node reduce last; cluster reduce last; " \
	"all reduce last; }\n"

/** Waves under way. */
#define REDUCED_WINDOW 64u

/** Of both trees; the bytes are those between root and consumer, both ways. */
struct reduced {
	struct spent real, floor;
};

/** Measure waves of the view in @run, all of whose @agents, the entry first, are leaves with one
 * element in it. Returns 0, or -1 with @e. */
int reduced_measure(const struct bed *bed, const char *run, const struct census *agents,
		    double seconds, struct reduced *r, struct error *e);

#endif
