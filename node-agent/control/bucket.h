/* SPDX-License-Identifier: BSD-3-Clause */
/* How many waves a consumer may begin that has a share of what looking may cost: seconds of agents'
 * processors flow in, and what waves took flows out. Pure. */
#ifndef EVSPACE_BUCKET_H
#define EVSPACE_BUCKET_H

#include <stdint.h>

/** Plain data; zeroed it has no part yet. */
struct bucket {
	double part; /* seconds of each host's agent that flow in each second; infinite: no limit */
	double level;  /* seconds; below 0: more was spent than had come */
	double wave_s; /* what a wave takes, on average of the last ones; 0: unknown */
	uint64_t now_ns;
};

/** From @now_ns on @part flows in. */
void bucket_set(struct bucket *b, double part, uint64_t now_ns);

/** @waves were answered, which took @seconds. */
void bucket_pay(struct bucket *b, double seconds, uint64_t waves, uint64_t now_ns);

/** Nobody will say what @under_way took: they are paid as others were, or as what comes in a
 * second. Returns what is owed then, in seconds. */
double bucket_leave(struct bucket *b, unsigned under_way, uint64_t now_ns);

/** What is owed by @other is owed by this one, too; the parts are alike. */
void bucket_add(struct bucket *b, const struct bucket *other);

/** How many more waves may begin, beside those @under_way: at least one every ten seconds. */
uint32_t bucket_room(struct bucket *b, unsigned under_way, uint64_t now_ns);

/** In how many seconds there will be room for one, as far as is known. */
double bucket_wait(const struct bucket *b, unsigned under_way);

#endif
