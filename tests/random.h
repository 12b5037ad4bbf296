/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers for property tests: the same in every run, so that a failure can be looked at. */
#ifndef EVSPACE_TESTS_RANDOM_H
#define EVSPACE_TESTS_RANDOM_H

#include <stdint.h>

/** The next number from 0 to @below - 1 (splitmix64, Steele and others 2014). @state: any seed. */
static inline uint64_t random_below(uint64_t *state, uint64_t below)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

#endif
