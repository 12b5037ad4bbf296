/* SPDX-License-Identifier: BSD-3-Clause */
/* What an arm of an experiment does to the time of an iteration: an estimate from randomised pairs
 * of blocks, with an interval that holds however often it is looked at. Pure. */
#ifndef EVSPACE_EFFECT_H
#define EVSPACE_EFFECT_H

#include <stdint.h>

/** Pairs before there is an interval. */
#define EFFECT_PAIRS_LEAST 8u

/** What pairs of blocks have said so far. Zeroed: none yet. */
struct effect {
	uint64_t n;
	double mean; /* of the differences of log times */
	double m2;   /* sum of their squared deviations from it */
};

/** A slowdown, as a share of the time without: 0.01 is 1 %. */
struct effect_interval {
	uint64_t n;
	double estimate, low, high; /* low and high are infinite while there are too few pairs */
	double visible; /* a smaller slowdown than this could not have been told from none */
};

/**
 * Add a pair: the times of an iteration of the program (or of a block of as many iterations) with
 * the arm and without it, in any one unit, above 0. Which of the two came first must have been
 * thrown as a coin: then the drift of a machine is noise, and no bias.
 */
void effect_add(struct effect *effect, double with, double without);

/**
 * The interval that holds the true slowdown with @confidence (0.95) at all times together, so that
 * an experiment may be ended when it says enough: the asymptotic confidence sequence of
 * Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas (Time-uniform central limit theory and asymptotic
 * confidence sequences, 2024, theorem 2.2), narrowest at about 64 pairs, with the variance of few
 * pairs widened as Student does.
 */
struct effect_interval effect_interval(const struct effect *effect, double confidence);

#endif
