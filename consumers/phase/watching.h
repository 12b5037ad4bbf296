/* SPDX-License-Identifier: BSD-3-Clause */
/* Watches an execution span by span, in memory that does not grow with it, and says what changes:
 * how much the blocks of a process vary, where processes gather, which ways they go. Pure. */
#ifndef EVSPACE_WATCHING_H
#define EVSPACE_WATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/phase/routes.h"

/** Blocks that are told apart; what is beyond is in the last one. */
#define WATCHING_BLOCKS 65536u

/** What has changed. */
enum change_of {
	CHANGE_PROCESS, /* the entropy of the blocks that a process enters */
	CHANGE_SUBSET,	/* that of the states of some processes */
	CHANGE_TIME,	/* that of how all processes are spread over blocks, the mean of a span */
	CHANGE_CLUMP,	/* the share of the time in which more than half of them are in a block */
	CHANGE_ROUTE,	/* a way that processes go is another one */
};

struct watching_change {
	enum change_of of;
	double at;	 /* the beginning of the span from which on it is so */
	uint64_t run;	 /* from 1 on */
	double now;	 /* bits, or a share */
	double before;	 /* what was usual; NaN: it is so from the beginning */
	double unlikely; /* the probability of such a difference by chance */
	double off;	 /* what `now` may be off by, as times are known to bounds */
	unsigned process;
	struct watching_block { /* a clump's block; or where the process was most often, and next */
		uint32_t block;
		double share; /* of the blocks that it has entered; 0: there is none */
	} block[2];
	struct routes_fork route;
};

typedef void change_tell(void *arg, const struct watching_change *change);

/** What is watched. */
struct watching_shape {
	unsigned processes;
	double begin, span; /* of time, span above 0 */
	uint32_t start;	    /* the block that all are in at first */
	const bool *subset; /* by process, borrowed; NULL: no subset */
	change_tell *tell;
	void *arg;
};

struct watching;

/** All processes are in the first block at the time that it begins. Aborts when there is no memory.
 */
struct watching *watching_new(const struct watching_shape *shape);

/** NULL is fine. */
void watching_free(struct watching *w);

/** At @time, not before the last one, and known to @bound, @process enters @block. Tells what has
 * changed in spans that have ended by then. */
void watching_add(struct watching *w, double time, double bound, unsigned process, uint32_t block);

/** Another run of the same program begins at time 0. The span under way is left out. */
void watching_run(struct watching *w);

/** What figures of a span may be off by: shares of the time, and bits of the time and the subset.
 */
struct watching_off {
	double share, time, subset;
};

/** What was watched. */
struct watched {
	uint64_t spans, entries;
	uint64_t left_out;	 /* entries that were too many, of too many kinds, for one span */
	uint64_t borders;	 /* entries that may be of the span beside */
	struct watching_off off; /* the most that any span was */
};

struct watched watching_end(const struct watching *w);

#endif
