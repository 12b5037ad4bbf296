/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the time of processes in blocks, and compares each process with all others. */
#include "consumers/phase/occupancy.h"

#include <math.h>
#include <stdlib.h>

#include "consumers/analysis/student.h"
#include "pathmap/base/memory.h"

/* A smaller difference, as a share of the time, is none. */
#define LEAST 0.05

void occupancy_init(struct occupancy *o, unsigned processes, uint32_t blocks)
{
	*o = (struct occupancy){.processes = processes, .blocks = blocks};
	if ((uint64_t)processes * blocks > OCCUPANCY_MOST)
		return;
	o->spent = memory_new((size_t)processes * blocks, sizeof(*o->spent));
	o->longest = memory_new((size_t)processes * blocks, sizeof(*o->longest));
	o->since = memory_new(processes, sizeof(*o->since));
}

void occupancy_fini(struct occupancy *o)
{
	free(o->spent);
	free(o->longest);
	free(o->since);
	*o = (struct occupancy){0};
}

void occupancy_run(struct occupancy *o, const uint32_t *block)
{
	for (unsigned p = 0; p < o->processes; p++) {
		occupancy_leave(o, p, block[p]);
		if (o->since)
			o->since[p] = 0;
	}
	for (size_t i = 0; o->spent && i < (size_t)o->processes * o->blocks; i++) {
		o->spent[i] -= o->longest[i];
		o->longest[i] = 0;
	}
	o->before += o->time;
	o->time = 0;
}

static double share_of(const struct occupancy *o, unsigned process, uint32_t block)
{
	return o->spent[(uint64_t)process * o->blocks + block] / o->before;
}

/* What all processes have in a block. */
struct block_share {
	double mean, squares; /* of differences from it */
	double most;
};

static struct block_share block_share(const struct occupancy *o, uint32_t block)
{
	struct block_share all = {0};

	for (unsigned p = 0; p < o->processes; p++) {
		double share = share_of(o, p, block);

		all.mean += share / o->processes;
		all.most = fmax(all.most, share);
	}
	for (unsigned p = 0; p < o->processes; p++) {
		double away = share_of(o, p, block) - all.mean;

		all.squares += away * away;
	}
	return all;
}

/* Is @process in @block so much more, or less, than the others, and more so than in @most? */
static void process_compare(const struct occupancy *o, const struct block_share *all,
			    uint32_t block, double unlikely, struct occupancy_unlike *most)
{
	unsigned n = o->processes - 1;
	double share = share_of(o, most->process, block), away = share - all->mean;
	double others = all->mean - away / n;
	double squares = fmax(0, all->squares - away * away * o->processes / n), chance;

	if (fabs(share - others) <= fmax(LEAST, fabs(most->share - most->others)))
		return;
	chance = student_unlike(share, others, squares, n);
	if (chance < unlikely)
		*most = (struct occupancy_unlike){most->process, block, share, others, chance};
}

unsigned occupancy_find(const struct occupancy *o, double unlikely, struct occupancy_unlike *found)
{
	unsigned n = 0, tried = 0;

	if (!o->spent || o->processes < 4 || !(o->before > 0))
		return 0;
	for (uint32_t b = 0; b < o->blocks; b++)
		tried += block_share(o, b).most > LEAST ? o->processes : 0;
	for (unsigned p = 0; p < o->processes; p++)
		found[p] = (struct occupancy_unlike){.process = p};
	for (uint32_t b = 0; b < o->blocks; b++) {
		struct block_share all = block_share(o, b);

		for (unsigned p = 0; p < o->processes && all.most > LEAST; p++)
			process_compare(o, &all, b, unlikely / tried, &found[p]);
	}
	for (unsigned p = 0; p < o->processes; p++) {
		if (found[p].share <= 0 && found[p].others <= 0)
			continue;
		found[n] = found[p];
		found[n++].unlikely *= tried;
	}
	return n;
}
