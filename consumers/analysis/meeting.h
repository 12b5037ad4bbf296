/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings: each collective operation joined over the members of its communicator, as their events
 * stream in (paper 5.3). Pure. */
#ifndef EVSPACE_MEETING_H
#define EVSPACE_MEETING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One member's part in a meeting. Processes, hosts and call sites are numbers of the caller's. */
struct arrival {
	int64_t start_ns, end_ns; /* when it entered and left the operation, on one clock */
	int64_t between_ns;	  /* how long its thread was in none before; -1: not known */
	double error_ns;	  /* bound of the error of both against other hosts */
	uint64_t bytes;
	uint32_t process;
	uint32_t host; /* processes of one host have one clock */
	uint32_t site; /* where it was called from; 0: not known */
	int32_t place; /* rank in the communicator; -1: not known; in a group of PVM any number
			* that is its own */
	uint16_t op;   /* tree/data/op.h */
};

/** How far a time of @a and one of @b may be off from each other. */
static inline double arrival_bound(const struct arrival *a, const struct arrival *b)
{
	return a->host == b->host ? 0 : a->error_ns + b->error_ns;
}

/** Why a meeting lacks members. */
enum meeting_gap {
	MEETING_WHOLE,
	MEETING_BEFORE,	 /* they were seen only later: it was before the looking began */
	MEETING_LOST,	 /* their tuples were overwritten, or filtered */
	MEETING_ABSENT,	 /* they have not come: late, ended, or not collected */
	MEETING_CROWDED, /* too many were open: given up for want of memory */
	MEETING_UNSIZED, /* how many members there are is not known */
	MEETING_GAPS
};

/** Which one it is, and how many it is of. */
struct meeting_key {
	uint32_t comm, number;
	uint32_t size; /* members of the communicator; 0: not known, then none is ever whole */
	int32_t root; /* place of the root; -1: none, or not known, or members say different ones */
	bool grows;   /* more members than @size may come to be known: it is whole a turn later */
};

/** One collective operation. */
struct meeting {
	struct meeting_key key;
	uint16_t op; /* of who was seen first */
	bool mixed;  /* others called another one */
	enum meeting_gap gap;
	size_t n;
	struct arrival *arrivals; /* by their start; of the same start, by process */
};

/** Bring the arrivals of @meeting into their order. */
void meeting_sort(const struct meeting *meeting);

/** Gets each meeting once, when it is whole or given up. It is gone when this returns. */
typedef void meetings_take(void *arg, const struct meeting *meeting);

struct meetings_counts {
	uint64_t n[MEETING_GAPS];
	uint64_t mixed;	  /* of all these */
	uint64_t strays;  /* arrivals at meetings that had been given up */
	uint64_t refused; /* arrivals of too many members of communicators in use, or at impossible
			   * times */
};

struct meetings;

/** None yet; at most @most arrivals and as many members are kept (2 MiB of memory for 10,000). */
struct meetings *meetings_new(size_t most, meetings_take *take, void *arg);

/** Free all, without telling of those that are open. NULL is fine. */
void meetings_free(struct meetings *meetings);

/** @arrival has come. Those of one process on one communicator come in order of their numbers, but
 * for threads that take turns. */
void meetings_add(struct meetings *meetings, const struct meeting_key *key,
		  const struct arrival *arrival);

/** All that elements held a moment ago has come (a wave that has left nothing): give up what cannot
 * become whole, since all members are past it. */
void meetings_turn(struct meetings *meetings);

/** Nothing more comes: give up what is open. */
void meetings_end(struct meetings *meetings);

const struct meetings_counts *meetings_counts(const struct meetings *meetings);

#endif
