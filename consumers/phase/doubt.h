/* SPDX-License-Identifier: BSD-3-Clause */
/* Which orders of changes are not known as clocks are not, and how far entropies may be off. Pure.
 */
#ifndef EVSPACE_DOUBT_H
#define EVSPACE_DOUBT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/** Changes of a span of time: behind which of them the state is not known, as what came later may
 * have been earlier. Zeroed, but for doubt_begin(). */
struct doubt_span {
	struct doubt doubt;
	struct doubt_change {
		double until;  /* this one, or one before it, may be as late as that */
		uint32_t from; /* the first one that it may be before */
	} * changes;
	size_t n, room;
	size_t before;	/* changes that may be before all of them, in the span before */
	size_t further; /* that are too many to be looked at: not known */
};

/** As doubt_add(). Aborts when there is no memory. */
void doubt_span_add(struct doubt_span *s, double time, double bound, unsigned process);

/** How many changes there are, and behind how many of them the state is not known. */
size_t doubt_span_all(const struct doubt_span *s);
size_t doubt_span_unknown(const struct doubt_span *s);

/** Another span begins. */
void doubt_span_next(struct doubt_span *s);

/** Free what it owns. */
void doubt_span_fini(struct doubt_span *s);

/** The most bits that Shannon's entropies of two distributions over so many @kinds differ by, of
 * which no more than that @share of all is of another kind (Zhang 2007, IEEE Trans. Inf. Theory 53,
 * theorem 6). */
double doubt_bits(double share, double kinds);

#endif
