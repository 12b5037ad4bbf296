/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulates the blocks of an experiment on a program. */
#include "tests/simulated.h"

#include <math.h>

#include "tests/random.h"
#include "tree/data/trial.h"

static double share(uint64_t *seed)
{
	return ((double)random_below(seed, 1u << 30) + 0.5) / (1u << 30);
}

static double normal(uint64_t *seed)
{
	double size = sqrt(-2 * log(share(seed)));

	return size * cos(2 * M_PI * share(seed));
}

/* As a factor's logarithm. */
static double noise_of(uint64_t *seed, enum simulated_noise noise)
{
	if (noise == SIMULATED_NORMAL)
		return 0.01 * normal(seed);
	if (noise == SIMULATED_BURSTS) /* now and then something long */
		return share(seed) < 0.03 ? 0.2 * share(seed) : 0.005 * normal(seed);
	return -0.01 * log(share(seed));
}

bool simulated_run(uint64_t *seed, enum simulated_noise noise, double slowdown,
		   struct effect *effect)
{
	uint64_t order_seed = random_below(seed, UINT32_MAX);
	double log_s = log1p(slowdown), drift = 0, took[2] = {0};
	bool held = true;

	*effect = (struct effect){0};
	for (uint32_t block = 0; block < 2 * SIMULATED_PAIRS; block++) {
		unsigned arm = trial_arm(order_seed, block, 2);

		drift = 0.98 * drift + 0.004 * normal(seed);
		took[arm] = exp(drift + noise_of(seed, noise) + (arm ? log_s : 0));
		if (block % 2 == 1) {
			struct effect_interval interval;

			effect_add(effect, took[1], took[0]);
			interval = effect_interval(effect, 0.95);
			held = held && interval.low <= slowdown && slowdown <= interval.high;
		}
	}
	return held;
}
