/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings that come summed up, in pieces (records of stage `meet`), joined over the members of
 * their communicators. Pure. */
#ifndef EVSPACE_MEETING_SUM_H
#define EVSPACE_MEETING_SUM_H

#include "consumers/analysis/meeting.h"
#include "tree/data/meet.h"

/** A meeting, or what has come of it. Processes, hosts and call sites are numbers of the caller's.
 */
struct meeting_sum {
	struct meet meet; /* in ns; `who` is the process that started last */
	uint32_t size;	  /* members of the communicator; 0: not known */
	int32_t root;	  /* place of the root; -1: none, or not known */
	uint32_t host;	  /* of who started last; of all without MEET_HOSTS */
	uint32_t site;	  /* where he called; 0: not known */
	int32_t place;	  /* his rank in the communicator; -1: not known */
	double error_ns;  /* bound of the error of each time against other hosts */
};

/** How far two of its times may be off from each other. */
static inline double meeting_sum_bound(const struct meeting_sum *sum)
{
	return sum->meet.flags & MEET_HOSTS ? 2 * sum->error_ns : 0;
}

/** That of all of @meeting, of one member at least. */
struct meeting_sum meeting_sum_of(const struct meeting *meeting);

/** Gets each one once, when it is whole or given up; @gap is MEETING_WHOLE or why it is not. */
typedef void meeting_sums_take(void *arg, const struct meeting_sum *sum, enum meeting_gap gap);

struct meeting_sums;

/** None yet; at most @most are open, and as many communicators are known (3 MB for 10,000). */
struct meeting_sums *meeting_sums_new(size_t most, meeting_sums_take *take, void *arg);

/** Free all, without telling of those that are open. NULL is fine. */
void meeting_sums_free(struct meeting_sums *sums);

/** A @piece has come. */
void meeting_sums_add(struct meeting_sums *sums, const struct meeting_sum *piece);

/** All that elements held a moment ago has come (a wave that has left nothing): give up what cannot
 * become whole, since a
 * later one of the same communicator was whole by then. */
void meeting_sums_turn(struct meeting_sums *sums);

/** Nothing more comes: give up what is open. */
void meeting_sums_end(struct meeting_sums *sums);

/** Counts pieces where a meeting counts arrivals. */
const struct meetings_counts *meeting_sums_counts(const struct meeting_sums *sums);

#endif
