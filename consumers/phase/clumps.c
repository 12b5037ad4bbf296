/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the time for which most processes are in one block. */
#include "consumers/phase/clumps.h"

#include <math.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

void clumps_init(struct clumps *c, unsigned processes, uint32_t blocks, uint32_t at)
{
	*c = (struct clumps){.processes = processes, .blocks = blocks};
	c->block = memory_new(blocks, sizeof(*c->block));
	c->block[at].count = processes;
}

void clumps_fini(struct clumps *c)
{
	free(c->block);
	*c = (struct clumps){0};
}

/* Add up what @b was since its count last changed. */
static void block_count(const struct clumps *c, struct clumps_block *b)
{
	double took = c->time - b->since;

	b->occupied += took * b->count;
	b->crowded += b->count > c->processes / 2 ? took : 0;
	b->since = c->time;
}

void clumps_anew(struct clumps *c)
{
	for (uint32_t k = 0; k < c->blocks; k++) {
		struct clumps_block *b = &c->block[k];

		*b = (struct clumps_block){.count = b->count, .since = c->time};
	}
	c->before = 0;
	c->began = c->time;
}

void clumps_run(struct clumps *c)
{
	for (uint32_t k = 0; k < c->blocks; k++) {
		block_count(c, &c->block[k]);
		c->block[k].since = 0;
	}
	c->before += c->time - c->began;
	c->time = c->began = 0;
}

void clumps_change(struct clumps *c, uint32_t from, uint32_t to)
{
	block_count(c, &c->block[from]);
	block_count(c, &c->block[to]);
	c->block[from].count--;
	c->block[to].count++;
}

/* The probability that more than half of @n are where each is with probability @q. */
static double chance(unsigned n, double q)
{
	double sum = 0;

	if (q <= 0 || q >= 1)
		return q <= 0 ? 0 : 1;
	for (unsigned k = n / 2 + 1; k <= n; k++)
		sum += exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0) + k * log(q) +
			   (n - k) * log1p(-q));
	return fmin(sum, 1);
}

unsigned clumps_find(struct clumps *c, double least, struct clump *found, unsigned most)
{
	double all = c->before + c->time - c->began;
	unsigned n = 0;

	for (uint32_t k = 0; c->processes > 2 && all > 0 && k < c->blocks; k++) {
		struct clumps_block *b = &c->block[k];
		struct clump clump = {.block = k};
		unsigned at;

		block_count(c, b);
		clump.share = b->crowded / all;
		if (clump.share <= 0 || clump.share < least)
			continue;
		clump.chance = chance(c->processes, b->occupied / all / c->processes);
		for (at = n < most ? n++ : most; at > 0 && found[at - 1].share < clump.share; at--)
			if (at < most)
				found[at] = found[at - 1];
		if (at < most)
			found[at] = clump;
	}
	return n;
}
