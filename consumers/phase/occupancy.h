/* SPDX-License-Identifier: BSD-3-Clause */
/* How long each process is in each block, and who is elsewhere than the others. One long stay, as
 * at the start of a program, says nothing of what a process does again and again, so the longest
 * one does not count. Pure. */
#ifndef EVSPACE_OCCUPANCY_H
#define EVSPACE_OCCUPANCY_H

#include <stddef.h>
#include <stdint.h>

/** Most processes times blocks: 64 MiB. Beyond, nothing is added up. */
#define OCCUPANCY_MOST (UINT64_C(1) << 22)

struct occupancy {
	unsigned processes;
	uint32_t blocks;
	double time, before; /* of this run until now, and of all runs before */
	double *spent;	     /* by process and block; NULL: nothing is added up */
	double *longest;     /* likewise: of this run, its longest stay */
	double *since;	     /* by process: when it came to its block */
};

/** A process that is in a block for another share of the time than the others. */
struct occupancy_unlike {
	unsigned process;
	uint32_t block;	 /* of those in which it is so, that with the largest difference */
	double share;	 /* of the time, without the longest stay of each run */
	double others;	 /* their mean */
	double unlikely; /* by chance, that any process is so much so in any block */
};

/** Each process is somewhere. Aborts when there is no memory. */
void occupancy_init(struct occupancy *o, unsigned processes, uint32_t blocks);

/** Free what it owns. */
void occupancy_fini(struct occupancy *o);

/** @process leaves block @from, at the time of now. */
static inline void occupancy_leave(struct occupancy *o, unsigned process, uint32_t from)
{
	size_t at = (size_t)process * o->blocks + from;
	double stay;

	if (!o->spent)
		return;
	stay = o->time - o->since[process];
	o->spent[at] += stay;
	o->longest[at] = stay > o->longest[at] ? stay : o->longest[at];
	o->since[process] = o->time;
}

/** What follows is at @time, not before the last one. */
static inline void occupancy_at(struct occupancy *o, double time)
{
	o->time = time;
}

/** A run ends, in which each process is in its @block; another one begins at time 0. */
void occupancy_run(struct occupancy *o, const uint32_t *block);

/** Write to @found, an array of as many as there are processes, those for which that is less likely
 * than @unlikely; nobody of less than 4. Call occupancy_run() before. Returns how many. */
unsigned occupancy_find(const struct occupancy *o, double unlikely, struct occupancy_unlike *found);

#endif
