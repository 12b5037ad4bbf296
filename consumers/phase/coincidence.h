/* SPDX-License-Identifier: BSD-3-Clause */
/* For how much of the time each two processes are in the same block. Of this matrix the first
 * component is what most have in common, and one that goes another way has the second. Pure. */
#ifndef EVSPACE_COINCIDENCE_H
#define EVSPACE_COINCIDENCE_H

#include <stdint.h>

/** Most processes: 8 MiB. Beyond, nothing is added up. */
#define COINCIDENCE_MOST 1024u

struct coincidence {
	unsigned processes;
	double time, before; /* of this run until now, and of all runs before */
	double *together;    /* of process p, in row p: with each other one, until p left it; NULL:
			      * nothing is added up */
	double *since;	     /* by process: when it came to its block */
};

/** All @processes are in one block. Aborts when there is no memory. */
void coincidence_init(struct coincidence *c, unsigned processes);

/** Free what it owns. */
void coincidence_fini(struct coincidence *c);

/** At the time of now @process leaves its block, of the @block that each is in. Takes time in
 * proportion to the number of processes. */
void coincidence_change(struct coincidence *c, unsigned process, const uint32_t *block);

/** What follows is at @time, not before the last one. */
static inline void coincidence_at(struct coincidence *c, double time)
{
	c->time = time;
}

/** A run ends, in which each process is in its @block; another one begins at time 0. */
void coincidence_run(struct coincidence *c, const uint32_t *block);

/** Write the shares of the time as a matrix of processes * processes to @share, 1 on its diagonal.
 * Call coincidence_run() before. Returns 0, or -1: nothing was added up, or no time has passed. */
int coincidence_share(const struct coincidence *c, double *share);

/** A process among the others. */
struct coincidence_apart {
	double share;	 /* of the time that it is with one of them, on average */
	double others;	 /* that they are with each other */
	double unlikely; /* that chance makes any process so far from all others (Student's t) */
};

/** Compare @process with the others, of 4 @processes at least. */
struct coincidence_apart coincidence_apart(const double *share, unsigned processes,
					   unsigned process);

#endif
