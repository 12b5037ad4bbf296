/* SPDX-License-Identifier: BSD-3-Clause */
/* Joins the reports of ranks about blocks, and compares the arms of each round. */
#include "consumers/budget/blocks.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/data/trial.h"

/* Blocks that are waited for at once. */
#define OPEN_MAX 256u

/* Calls of a block. */
#define LEAST_CALLS 8u

struct block {
	uint32_t number;
	unsigned reports; /* of ranks; 0: free */
	double sum_ns;
};

struct blocks {
	struct blocks_plan plan;
	unsigned processes;
	struct block open[OPEN_MAX];
	double ns[OPEN_MAX]; /* of complete ones, a rank's mean; 0: not complete */
	uint32_t of[OPEN_MAX];
	struct effect effects[TRIAL_ARMS_MAX];
	struct blocks_round round;
	uint32_t last; /* complete, and when it ended */
	int64_t last_end_ns;
	double last_ns; /* with its wash-out; 0: there is none yet */
};

struct blocks_plan blocks_plan(double calls, double seconds, unsigned arms, uint64_t seed)
{
	double length = fmin(fmax(calls * seconds, LEAST_CALLS), TRIAL_LENGTH_MAX);

	return (struct blocks_plan){
		.seed = seed,
		.arms = arms,
		.length = (unsigned)length,
		.wash = (unsigned)length / 4,
	};
}

struct blocks *blocks_new(const struct blocks_plan *plan, unsigned processes)
{
	struct blocks *blocks = memory_new(1, sizeof(*blocks));

	blocks->plan = *plan;
	blocks->processes = processes;
	return blocks;
}

void blocks_free(struct blocks *blocks)
{
	free(blocks);
}

/* The time of the block with this arm in the round that begins with @first; 0: not complete. */
static double round_ns(const struct blocks *b, uint32_t first, unsigned arm)
{
	for (uint32_t i = first; i < first + b->plan.arms; i++)
		if (trial_arm(b->plan.seed, i, b->plan.arms) == arm)
			return b->of[i % OPEN_MAX] == i ? b->ns[i % OPEN_MAX] : 0;
	return 0;
}

/* A round is complete: compare its arms. */
static void round_add(struct blocks *b, uint32_t first)
{
	double without = round_ns(b, first, 0);
	bool twice = b->plan.again;
	double again = twice ? round_ns(b, first, 1) : without;

	for (unsigned arm = 1; arm < b->plan.arms; arm++) {
		double with = round_ns(b, first, arm);
		double other = arm == 1 ? without : sqrt(without * again);

		effect_add(&b->effects[arm], with, other);
		b->round.did[arm] = log(with / other);
	}
	b->round.n++;
	b->round.first = first;
}

/* All ranks have reported the block. */
static void block_complete(struct blocks *b, const struct block *block, int64_t end_ns)
{
	uint32_t n = b->plan.arms, at = block->number % OPEN_MAX;
	uint32_t first = block->number - block->number % n;
	double share = 1 - (double)b->plan.wash / b->plan.length;

	b->of[at] = block->number;
	b->ns[at] = block->sum_ns / b->processes;
	if (block->number >= b->last) {
		b->last = block->number;
		b->last_end_ns = end_ns;
		b->last_ns = b->ns[at] / share;
	}
	for (unsigned arm = 0; arm < n; arm++)
		if (round_ns(b, first, arm) <= 0)
			return;
	round_add(b, first);
}

void blocks_add(struct blocks *b, uint32_t number, int32_t arm, int64_t start_ns, int64_t end_ns)
{
	struct block *block = &b->open[number % OPEN_MAX];

	if (end_ns <= start_ns || arm < 0 ||
	    (unsigned)arm != trial_arm(b->plan.seed, number, b->plan.arms))
		return;
	if (block->reports > 0 && block->number > number)
		return;
	if (block->number != number || block->reports == 0)
		*block = (struct block){.number = number};
	block->sum_ns += (double)(end_ns - start_ns);
	if (++block->reports == b->processes)
		block_complete(b, block, end_ns);
}

int blocks_arm_now(const struct blocks *b, int64_t now_ns, int64_t *left_ns)
{
	double ahead, past = (double)(now_ns - b->last_end_ns);

	if (b->last_ns <= 0)
		return -1;
	ahead = floor(past / b->last_ns);
	if (ahead < 0 || ahead > 1e6)
		return -1;
	if (left_ns)
		*left_ns = (int64_t)((ahead + 1) * b->last_ns - past);
	return (int)trial_arm(b->plan.seed, b->last + 1 + (uint32_t)ahead, b->plan.arms);
}

struct effect_interval blocks_effect(const struct blocks *b, unsigned arm, double confidence)
{
	return effect_interval(&b->effects[arm], confidence);
}

const struct blocks_round *blocks_round(const struct blocks *b)
{
	return &b->round;
}
