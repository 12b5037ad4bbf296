/* SPDX-License-Identifier: BSD-3-Clause */
/* Tails: how unusual a value is, by those seen so far. Pure. */
#ifndef EVSPACE_TAIL_H
#define EVSPACE_TAIL_H

#include <stdint.h>

#include "tree/data/bin.h"

/** Values before it says anything. */
#define TAIL_LEAST 100u

/**
 * Values from 0 up. What is usual among them is taken to be distributed as Weibull has it, through
 * their median and their 90th percentile: a tenth of all may be anything. Zeroed: none yet.
 */
struct tail {
	uint64_t n;
	uint32_t bins[BIN_COUNT];
	uint64_t fitted; /* n of the last fit */
	double scale, shape;
};

void tail_add(struct tail *tail, double value);

/**
 * How many of the values so far, if they were only the usual ones, would be expected to be above
 * @value: 0.01 means that with a probability of 0.99 there would be none. All, while there are
 * fewer than TAIL_LEAST.
 */
double tail_expected(struct tail *tail, double value);

#endif
