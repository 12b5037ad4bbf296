/* SPDX-License-Identifier: BSD-3-Clause */
/* A parallel execution: which block each process is in, row by row (Gomez, Cai, Schubert 2016,
 * section 5.5), and what is added up of the rows. Pure. */
#ifndef EVSPACE_EXECUTION_H
#define EVSPACE_EXECUTION_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/phase/clumps.h"
#include "consumers/phase/coincidence.h"
#include "consumers/phase/moments.h"
#include "consumers/phase/multiplicity.h"
#include "consumers/phase/occupancy.h"
#include "consumers/phase/scan.h"

/** What there is, and what of it is wanted. Blocks are numbered from 0. */
struct execution_shape {
	unsigned processes; /* 1 at least */
	uint32_t blocks, start;
	const bool *subset; /* by process; NULL: no subset */
	unsigned scan;	    /* processes of the subsets to compare; 0: none */
	bool components;    /* sums for them */
	bool times;	    /* where processes gather, and who is elsewhere */
	bool alike;	    /* for how long each two of them are in the same block */
	double bound;	    /* all times are known to that at least (unordered.h) */
};

struct execution {
	struct execution_shape shape;
	uint32_t *block;  /* by process, of the present row */
	uint64_t *set_in; /* the row in which it was last set, from 1 on; 0: not in this run */
	double time;	  /* of the present row */
	unsigned seen;	  /* processes that have been in an entry of this run */
	uint64_t rows;	  /* those that are complete */
	uint64_t entries, runs;
	uint64_t clashes; /* entries that replaced another one of the same process and time */
	struct multiplicity whole, subset;
	struct moments moments;
	struct scan scan;
	struct clumps clumps;
	struct occupancy occupancy;
	struct coincidence coincidence;
};

/** A first row: all processes in the block @shape->start at time 0. Returns 0, or -1 with @e if a
 * scan is too large. For execution_fini() in both cases. */
int execution_init(struct execution *x, const struct execution_shape *shape, struct error *e);

/** Free what it owns. */
void execution_fini(struct execution *x);

/**
 * At @time a process enters a block, both in the shape's range. Entries come sorted by time; a time
 * before the row's begins another run, in which all are in the start block at time 0 again. One
 * with the row's time changes that row: the last of several of one process counts. @row is called
 * with each row that is complete, before the change (NULL: it is not).
 */
void execution_add(struct execution *x, double time, unsigned process, uint32_t block,
		   void (*row)(void *arg, const struct execution *x), void *arg);

/** There are no more entries: the last row is complete. */
void execution_end(struct execution *x, void (*row)(void *arg, const struct execution *x),
		   void *arg);

#endif
