/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests slowdowns and their intervals on a simulated program whose slowdown is known, and what
 * blocks are made by. */
#include "tests/simulated.h"
#include "tests/tap.h"

#include <math.h>

#include "consumers/budget/effect.h"
#include "consumers/budget/frequency.h"
#include "tree/data/trial.h"

#define RUNS 400u

/* 93 of 100, although it was looked at after each pair. */
static void planted_ones_are_in_it(void)
{
	static const double planted[] = {0, 0.005, 0.01, 0.02, 0.05};
	uint64_t seed = 3;

	for (unsigned kind = 0; kind < SIMULATED_NOISES; kind++)
		for (unsigned i = 0; i < 5; i++) {
			unsigned held = 0, seen = 0;
			double visible = 0;

			for (unsigned r = 0; r < RUNS; r++) {
				struct effect_interval interval;
				struct effect effect;

				held += simulated_run(&seed, kind, planted[i], &effect);
				interval = effect_interval(&effect, 0.95);
				seen += interval.low > 0;
				visible += interval.visible / RUNS;
			}
			tap_note("noise %u, %.1f %%: held in %u of %u, told from none in %u; "
				 "visible %.2f %%",
				 kind, planted[i] * 100, held, RUNS, seen, visible * 100);
			CU_ASSERT(held >= RUNS * 93 / 100);
			CU_ASSERT(planted[i] > 0 || seen <= RUNS * 7 / 100);
			CU_ASSERT(planted[i] < 2 * visible || seen >= RUNS * 9 / 10);
		}
}

static void few_pairs_say_nothing(void)
{
	struct effect effect = {0};
	struct effect_interval interval;

	for (unsigned i = 1; i < EFFECT_PAIRS_LEAST; i++) {
		effect_add(&effect, 1.01, 1);
		interval = effect_interval(&effect, 0.95);
		CU_ASSERT(isinf(interval.low) && isinf(interval.high) && isinf(interval.visible));
		CU_ASSERT(fabs(interval.estimate - 0.01) < 1e-9);
	}
	effect_add(&effect, 1.01, 1);
	interval = effect_interval(&effect, 0.95);
	CU_ASSERT(interval.n == EFFECT_PAIRS_LEAST && fabs(interval.high - 0.01) < 1e-9);
}

/* Each arm once in so many blocks, in all orders alike. */
static void arms_are_in_random_order(void)
{
	unsigned orders[6] = {0};

	for (uint32_t block = 0; block < 6000; block += 3) {
		unsigned arms[3];

		for (uint32_t i = 0; i < 3; i++)
			arms[i] = trial_arm(5, block + i, 3);
		CU_ASSERT_FATAL(arms[0] < 3 && arms[0] + arms[1] + arms[2] == 3 &&
				arms[0] != arms[1] && arms[1] != arms[2]);
		orders[arms[0] * 2 + (arms[1] > arms[2])]++;
	}
	for (unsigned i = 0; i < 6; i++)
		CU_ASSERT(orders[i] > 260 && orders[i] < 410);
	CU_ASSERT_EQUAL(trial_arm(7, 12345, 1), 0);
}

/* A host that is away at one of two looks has nothing to do with how often calls come. */
static void calls_of_the_same_hosts(void)
{
	struct frequency f = {0};
	struct frequency_look l = {.hosts = 3, .processes = 4, .calls = 1000000, .when_ns = 5};

	CU_ASSERT_EQUAL(frequency_take(&f, &l), 0);
	l = (struct frequency_look){2, 700000, 3, 1000000005};
	CU_ASSERT_EQUAL(frequency_take(&f, &l), 0);
	l = (struct frequency_look){3, 1000400, 4, 2000000005};
	CU_ASSERT_EQUAL(frequency_take(&f, &l), 0);
	l = (struct frequency_look){3, 1000400, 4, 3000000005};
	CU_ASSERT_EQUAL(frequency_take(&f, &l), 0);
	l = (struct frequency_look){3, 1001200, 4, 4000000005};
	CU_ASSERT_DOUBLE_EQUAL(frequency_take(&f, &l), 100, 1e-9);
	/* all have ended */
	l = (struct frequency_look){3, 1001200, 0, 5000000005};
	CU_ASSERT_EQUAL(frequency_take(&f, &l), 0);
}

static CU_TestInfo cases[] = {
	{"planted slowdowns are in the interval, at all times", planted_ones_are_in_it},
	{"few pairs say nothing", few_pairs_say_nothing},
	{"arms come in random order", arms_are_in_random_order},
	{"calls are counted of the same hosts", calls_of_the_same_hosts},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "effect", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
