/* SPDX-License-Identifier: BSD-3-Clause */
/* How often each of many things occurs, which are not known before. Pure. */
#ifndef EVSPACE_OCCURRENCES_H
#define EVSPACE_OCCURRENCES_H

#include <stddef.h>
#include <stdint.h>

/** Most different things that are told apart; what comes beyond is counted as left out. */
#define OCCURRENCES_MOST (1u << 20)

struct occurrence {
	uint64_t what, count;
};

/** Plain data, usable when zeroed. */
struct occurrences {
	struct occurrence *items; /* sorted by what, each once, after occurrences_merge() */
	size_t n, room;
	int full; /* there are so many: nothing more is taken until occurrences_clear() */
	uint64_t left_out;
};

/** One more of @what. */
void occurrences_add(struct occurrences *o, uint64_t what);

/** Add up what is the same. */
void occurrences_merge(struct occurrences *o);

/** Begin anew, with the same memory. */
void occurrences_clear(struct occurrences *o);

void occurrences_fini(struct occurrences *o);

#endif
