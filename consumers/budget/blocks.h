/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of an experiment as ranks report them: joined over ranks, then over arms. Pure. */
#ifndef EVSPACE_BLOCKS_H
#define EVSPACE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/budget/effect.h"
#include "tree/data/trial.h"

struct blocks;

/** Why there can be no experiment if blocks come as EVSPACE_UNNUMBERED. */
#define BLOCKS_UNNUMBERED                                                                       \
	"its collectives were off for a while, so that ranks count them differently; start it " \
	"anew"

/** The experiment's blocks, as in struct evspace_trial. */
struct blocks_plan {
	uint64_t seed;
	unsigned arms, length, wash;
	bool again; /* arm 1 is the same as arm 0 */
};

/** Blocks of @seconds of a program that makes @calls collectives a second, of at least so many that
 * a wash-out can be told from the rest; the first quarter does not count. */
struct blocks_plan blocks_plan(double calls, double seconds, unsigned arms, uint64_t seed);

/** None yet, of an experiment with @plan in @processes processes. Arm 0 is what others are
 * compared with, together with arm 1 if that is the same. blocks_free() frees. */
struct blocks *blocks_new(const struct blocks_plan *plan, unsigned processes);
void blocks_free(struct blocks *blocks);

/** A rank's block number @block of arm @arm took from @start_ns to @end_ns of the reference clock.
 * Reports may come in any order; those of blocks long past, and wrong ones, are dropped. */
void blocks_add(struct blocks *blocks, uint32_t block, int32_t arm, int64_t start_ns,
		int64_t end_ns);

/** The arm that the program probably is in at @now_ns, from when blocks ended so far; -1: not
 * known. *@left_ns: for how long still; NULL: not asked for. */
int blocks_arm_now(const struct blocks *blocks, int64_t now_ns, int64_t *left_ns);

/** What @arm does to the time of an iteration, in the rounds of all arms that all ranks have
 * reported. */
struct effect_interval blocks_effect(const struct blocks *blocks, unsigned arm, double confidence);

/** A round: a block with each arm. */
struct blocks_round {
	uint64_t n;		    /* how many are complete; 0: none yet */
	uint32_t first;		    /* of the blocks of the last of these */
	double did[TRIAL_ARMS_MAX]; /* by each arm in it: the logarithm of a factor */
};

const struct blocks_round *blocks_round(const struct blocks *blocks);

#endif
