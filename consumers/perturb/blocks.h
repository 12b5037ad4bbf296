/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of an experiment as ranks report them: joined over ranks, then over arms. Pure. */
#ifndef EVSPACE_BLOCKS_H
#define EVSPACE_BLOCKS_H

#include <stdint.h>

#include "consumers/client/evspace-control.h"
#include "consumers/perturb/effect.h"

struct blocks;

/** None yet, of an experiment with @trial in @processes processes. Arm 0 is what others are
 * compared with, together with arm 1 if that is the same. blocks_free() frees. */
struct blocks *blocks_new(const struct evspace_trial *trial, unsigned processes);
void blocks_free(struct blocks *blocks);

/** A rank's block number @block of arm @arm took from @start_ns to @end_ns of the reference clock.
 * Reports may come in any order; those of blocks long past, and wrong ones, are dropped. */
void blocks_add(struct blocks *blocks, uint32_t block, int32_t arm, int64_t start_ns,
		int64_t end_ns);

/** The arm that the program probably is in at @now_ns, from when blocks ended so far; -1: not
 * known. */
int blocks_arm_now(const struct blocks *blocks, int64_t now_ns);

/** What @arm does to the time of an iteration, in the rounds of all arms that all ranks have
 * reported. */
struct effect_interval blocks_effect(const struct blocks *blocks, unsigned arm, double confidence);

#endif
