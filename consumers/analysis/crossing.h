/* SPDX-License-Identifier: BSD-3-Clause */
/* Crossings: what an operation in which all wait for all says of the clocks of hosts. Nobody leaves
 * it before the last has come, which bounds how far two clocks are off from each other. Pure. */
#ifndef EVSPACE_CROSSING_H
#define EVSPACE_CROSSING_H

#include "consumers/analysis/meeting.h"

/** Hosts with higher numbers are not looked at. */
#define CROSSING_HOSTS 64u

/** Two hosts whose clocks are further off than was said. */
struct crossing_fault {
	uint32_t left, came; /* hosts: the one left before the other came, */
	double ns;	     /* by so much, in the worst case, */
	double error_ns;     /* beside what clocks were said to be off at most, */
	uint32_t comm, number;
	uint16_t op; /* in this operation */
};

struct crossing_counts {
	uint64_t meetings;  /* of several hosts that have said something */
	uint64_t corrected; /* meetings whose times are surer by that */
	double was_ns;	    /* sum over these of the mean bound of a member's times, as it came, */
	double bound_ns;    /* and as it is now */
	uint64_t faults;    /* meetings that contradict the bounds of clocks */
	struct crossing_fault worst; /* if any do */
};

struct crossings;

struct crossings *crossings_new(void);

/** NULL is fine. */
void crossings_free(struct crossings *crossings);

/** Look at @meeting. If it is whole, of several hosts, and all have waited for all, move the times
 * of its arrivals, and say how far they may be off then, where that is less than what they say
 * themselves. They are by their start again. */
void crossings_take(struct crossings *crossings, const struct meeting *meeting);

const struct crossing_counts *crossings_counts(const struct crossings *crossings);

#endif
