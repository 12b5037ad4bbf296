/* SPDX-License-Identifier: BSD-3-Clause */
/* Which orders of changes are not known as clocks are not, and how far entropies may be off. Pure.
 */
#ifndef EVSPACE_DOUBT_H
#define EVSPACE_DOUBT_H

#include <stdbool.h>

/** Until when what has come may be. */
struct doubt {
	struct doubt_reach {
		double until; /* an entry may be as late as that */
		unsigned process;
	} last, other; /* the latest one, and that of another process */
};

/** Nothing has come. */
void doubt_begin(struct doubt *d);

/** @process changes at @time, which is known to @bound. Is that closer to a change before, of
 * another process, than both are known? */
bool doubt_add(struct doubt *d, double time, double bound, unsigned process);

/** The most bits that Shannon's entropies of two distributions over so many @kinds differ by, of
 * which no more than that @share of all is of another kind (Zhang 2007, IEEE Trans. Inf. Theory 53,
 * theorem 6). */
double doubt_bits(double share, double kinds);

#endif
