/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the entropy of events in a window: the paper's example by its formula, and its limits. */
#include "tests/tap.h"

#include <math.h>
#include <string.h>

#include "tree/data/entropy-window.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 5e-5 * b;
}

/* S of the last event of @text, a letter each, four events being possible. */
static double entropy_of(const struct entropy_table *table, const char *text)
{
	struct entropy_window window = {0};
	double s = 0;

	for (; *text; text++)
		s = entropy_window_next(table, &window, (uint32_t)*text, 0.25);
	return s;
}

/* Section 3. The second position is 0.000259 by equations 2 to 4; the paper prints 0.0006, which is
 * what beta gives: the other event, not the same. */
static void the_papers_example(void)
{
	struct entropy_table table;

	entropy_table_init(&table, 3, 1, NULL);
	CU_ASSERT(near(entropy_of(&table, "A"), 0.086643));
	CU_ASSERT(near(entropy_of(&table, "AB"), 0.086643));
	CU_ASSERT(near(entropy_of(&table, "BAAAA"), 0.00025929));
	CU_ASSERT(near(entropy_of(&table, "BAAAB"), 0.00062961));
}

/* By hand: p_w = p (p alpha_0) for one repetition. */
static void repetitions_count_up_to_the_window(void)
{
	struct entropy_table table;
	double once = -0.25 * 0.125 * 0.7 * log(0.7);

	entropy_table_init(&table, 2, 1, NULL);
	CU_ASSERT(near(entropy_of(&table, "AAA"), once));
	CU_ASSERT(near(entropy_of(&table, "AAAAAAA"), once));
	entropy_table_init(&table, 4, 10, NULL);
	CU_ASSERT(near(entropy_of(&table, "AAA"), 10 * once));
	CU_ASSERT(near(entropy_of(&table, "AAAAA"),
		       -10 * pow(0.25, 4) * 0.5 * 0.35 * 0.315 * 0.95 * log(0.95)));
}

/* With a window of one event, S has two values. */
static void one_event_is_bi_level(void)
{
	const double alpha = 0.8;
	struct entropy_table table;

	entropy_table_init(&table, 1, 1, &alpha);
	CU_ASSERT(near(entropy_of(&table, "AA"), -0.25 * 0.8 * log(0.8)));
	CU_ASSERT(near(entropy_of(&table, "AAAAAA"), -0.25 * 0.8 * log(0.8)));
	CU_ASSERT(near(entropy_of(&table, "AAB"), -0.25 * 0.2 * log(0.2)));
	CU_ASSERT(near(entropy_of(&table, "BABAB"), -0.25 * 0.2 * log(0.2)));
}

/* What begins tells more than what goes on, in windows of all sizes, and nothing is negative. */
static void beginnings_tell_more(void)
{
	for (unsigned size = 1; size <= ENTROPY_WINDOW_MAX; size++) {
		struct entropy_table table;

		entropy_table_init(&table, size, 1, NULL);
		for (unsigned i = 0; i < size; i++)
			CU_ASSERT(table.same[i] > 0 && table.other[i] > 0);
		for (unsigned i = 1; i < size; i++)
			CU_ASSERT(table.other[i] > table.same[i] &&
				  table.same[i] < table.same[i - 1]);
	}
}

static CU_TestInfo cases[] = {
	{"the paper's example, by its formula", the_papers_example},
	{"repetitions count up to the window", repetitions_count_up_to_the_window},
	{"a window of one is bi-level", one_event_is_bi_level},
	{"beginnings tell more", beginnings_tell_more},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "entropy_window", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
