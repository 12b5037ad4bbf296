/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes: where processes go from a block, when that is more than one way, and where these meet
 * again (Gomez, Cai, Schubert 2016, section 6.3). Pure. */
#ifndef EVSPACE_ROUTES_H
#define EVSPACE_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/phase/occurrences.h"

/** Most blocks on a way that are followed to where it meets another one. */
#define ROUTES_FOLLOWED 64u

/** A way from one block to the next is taken if it has this share of all from that block, and so
 * many times in a span; it is not any more if it has less than the other share. */
#define ROUTES_SHARE 0.1
#define ROUTES_TIMES 5u
#define ROUTES_GONE  0.02

struct route_way; /* a way that has been taken */

/** Plain data, usable when zeroed. */
struct routes {
	struct route_way *ways;
};

/** Processes have begun, or ceased, to go a way from a block, beside another one. */
struct routes_fork {
	uint32_t from, to, other; /* other: the way that most take, or most but this */
	double share, other_share;
	uint32_t meets; /* the first block that both lead to */
	bool begins, has_meets;
};

/** A key of occurrences for the way @from a block @to another one. */
static inline uint64_t routes_way(uint32_t from, uint32_t to)
{
	return (uint64_t)from << 32 | to;
}

/** All ways of a span, merged: call @tell with each one that has begun or ceased to be taken beside
 * another one, and is so for the second span in a row: of two the one that began later, else that
 * which fewer take. */
void routes_span(struct routes *r, const struct occurrences *taken,
		 void (*tell)(void *arg, const struct routes_fork *route), void *arg);

void routes_fini(struct routes *r);

#endif
