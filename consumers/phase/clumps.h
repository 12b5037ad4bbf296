/* SPDX-License-Identifier: BSD-3-Clause */
/* Where processes gather: the blocks that more than half of them are in at once, and for how long
 * (after Gomez, Cai, Schubert 2016, section 6.4). Pure. */
#ifndef EVSPACE_CLUMPS_H
#define EVSPACE_CLUMPS_H

#include <stdbool.h>
#include <stdint.h>

struct clumps {
	unsigned processes;
	uint32_t blocks;
	double time;   /* now, of any unit */
	double before; /* what earlier runs took */
	double began;  /* when counting began in this one */
	struct clumps_block {
		uint32_t count;	 /* processes in it */
		double since;	 /* the time from which on there are so many */
		double occupied; /* sum of the times that processes were in it, until then */
		double crowded;	 /* time in which more than half were in it, until then */
	} * block;
};

/** A block in which processes gather. */
struct clump {
	uint32_t block;
	double share;  /* of the time, in which more than half are in it */
	double chance; /* the same, if each were in it as long as now, but by itself */
};

/** All @processes are in block @at. Aborts when there is no memory. */
void clumps_init(struct clumps *c, unsigned processes, uint32_t blocks, uint32_t at);

/** Free what it owns. */
void clumps_fini(struct clumps *c);

/** A process goes from block @from to @to. */
void clumps_change(struct clumps *c, uint32_t from, uint32_t to);

/** What follows is at @time, not before the last one. */
static inline void clumps_at(struct clumps *c, double time)
{
	c->time = time;
}

/** Forget how long processes were where; count from now on. */
void clumps_anew(struct clumps *c);

/** A run ends; another one begins at time 0, with each process where it is. */
void clumps_run(struct clumps *c);

/** Write the @most blocks in which processes gather for the largest share of the time, of @least
 * and more, to @found, the largest first. Returns how many. Nothing, with less than 3 processes. */
unsigned clumps_find(struct clumps *c, double least, struct clump *found, unsigned most);

#endif
