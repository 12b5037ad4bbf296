/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated program on a machine that drifts, whose slowdown by an experiment's arm is known. */
#ifndef EVSPACE_TESTS_SIMULATED_H
#define EVSPACE_TESTS_SIMULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/budget/effect.h"

/** Kinds of what other things do to the time of a block. */
enum simulated_noise {
	SIMULATED_NORMAL,
	SIMULATED_BURSTS,
	SIMULATED_EXPONENTIAL,
	SIMULATED_NOISES
};

/** Pairs of blocks of a run. */
#define SIMULATED_PAIRS 300u

/** A run with an arm that slows the program down by @slowdown. Returns whether the interval held
 * that each time it was looked at, after every pair. */
bool simulated_run(uint64_t *seed, enum simulated_noise noise, double slowdown,
		   struct effect *effect);

#endif
