/* SPDX-License-Identifier: BSD-3-Clause */
/* What collecting costs a program, by what waves say was written so far. Pure. */
#ifndef EVSPACE_COLLECTING_H
#define EVSPACE_COLLECTING_H

#include <stdint.h>

/** What waves have said so far. Zeroed: there was none. */
struct collecting {
	uint64_t hosts, written; /* of the last one */
	int64_t taken_ns;	 /* 0: there was none */
	/* sums in which older times count less: of all processes, and of the time that passed */
	double cost_s, lived_s, seen_s;
};

/** A wave. What it counts is since the program began. */
struct collecting_wave {
	int64_t taken_ns;   /* when it was sent: it may be looked at much later, and several at once
			     */
	uint64_t hosts;	    /* which ones have answered: another number for others */
	uint64_t written;   /* events … */
	uint64_t cost_ns;   /* … and what these cost, by those that were timed; 0: none was yet */
	unsigned processes; /* that live */
};

/** Take a wave. Returns the share of its processes' time that collecting took in the last seconds;
 * NAN while that is not known. */
double collecting_take(struct collecting *collecting, const struct collecting_wave *wave);

#endif
