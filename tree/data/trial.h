/* SPDX-License-Identifier: BSD-3-Clause */
/* Random order of the arms of an experiment, the same for all who know its seed. */
#ifndef EVSPACE_TRIAL_H
#define EVSPACE_TRIAL_H

#include <stdint.h>

/** Most arms of an experiment. */
#define TRIAL_ARMS_MAX 8u

/** Its longest block and wash-out, in calls. */
#define TRIAL_LENGTH_MAX (UINT32_C(1) << 30)

/** The arm of block @block: every @arms (1 to TRIAL_ARMS_MAX) blocks in a row, from a multiple of
 * @arms on, have each arm once, in an order that @seed alone decides. */
static inline unsigned trial_arm(uint64_t seed, uint32_t block, unsigned arms)
{
	uint64_t x = seed ^ (block / arms + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
	unsigned char order[TRIAL_ARMS_MAX] = {0};

	for (unsigned i = 0; i < arms; i++) {
		unsigned j;

		x ^= x >> 31;
		x *= UINT64_C(0xbf58476d1ce4e5b9);
		x ^= x >> 29;
		j = (unsigned)((x >> 32) % (i + 1));
		order[i] = order[j];
		order[j] = (unsigned char)i;
	}
	return order[block % arms];
}

#endif
