/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests accounts of a thread's time: nested stays flattened, and compared, against a count of each
 * unit of time. */
#include "tests/random.h"
#include "tests/tap.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "consumers/analysis/dwell.h"

#define LENGTH	200
#define FROM	10
#define TO	190
#define THINGS	5u
#define OUTSIDE (THINGS - 1)
#define CASES	2000

/* What is innermost at each time. */
static void stays_make(uint64_t *seed, int from, int to, unsigned depth, struct dwells *list,
		       uint32_t *truth)
{
	while (from < to && depth < 5) {
		int begin = from + (int)random_below(seed, 30);
		int end = begin + 1 + (int)random_below(seed, 40);
		uint32_t what = (uint32_t)random_below(seed, OUTSIDE);

		if (end > to)
			return;
		dwells_add(list, (struct dwell){begin, end, what});
		for (int t = begin; t < end; t++)
			truth[t] = what;
		stays_make(seed, begin + 1, end - 1, depth + 1, list, truth);
		from = end;
	}
}

static void shuffle(uint64_t *seed, struct dwells *list)
{
	for (size_t i = list->n; i > 1; i--) {
		size_t k = random_below(seed, i);
		struct dwell d = list->all[i - 1];

		list->all[i - 1] = list->all[k];
		list->all[k] = d;
	}
}

static void is_cover(const struct dwells *flat)
{
	int64_t at = FROM;

	for (size_t i = 0; i < flat->n; i++) {
		CU_ASSERT(flat->all[i].from == at && flat->all[i].to > at);
		at = flat->all[i].to;
	}
	CU_ASSERT_EQUAL(at, TO);
}

static void nested_stays_are_spent_where_they_are(void)
{
	uint64_t seed = 7;

	for (int k = 0; k < CASES; k++) {
		struct dwells list = {0}, holes = {0}, flat = {0}, unknown = {0};
		double spent[THINGS] = {0}, right[THINGS] = {0};
		uint32_t truth[LENGTH];
		uint64_t left_out, missed = 0;
		bool hole[LENGTH] = {false};

		for (int t = 0; t < LENGTH; t++)
			truth[t] = OUTSIDE;
		stays_make(&seed, 0, LENGTH, 0, &list, truth);
		shuffle(&seed, &list);
		for (unsigned h = (unsigned)random_below(&seed, 4); h > 0; h--) {
			int from = (int)random_below(&seed, LENGTH);
			int to = from + (int)random_below(&seed, (uint64_t)(LENGTH - from));

			dwells_add(&holes, (struct dwell){from, to, 1});
			for (int t = from; t < to; t++)
				hole[t] = true;
		}
		for (int t = FROM; t < TO; t++) {
			missed += hole[t];
			right[truth[t]] += !hole[t];
		}
		dwells_flatten(&list, FROM, TO, OUTSIDE, &flat);
		dwells_flatten(&holes, FROM, TO, 0, &unknown);
		is_cover(&flat);
		is_cover(&unknown);
		left_out = dwells_spend(&flat, &unknown, spent);
		CU_ASSERT_EQUAL(left_out, missed);
		for (unsigned w = 0; w < THINGS; w++)
			CU_ASSERT_EQUAL(spent[w], right[w]);
		dwells_fini(&list);
		dwells_fini(&holes);
		dwells_fini(&flat);
		dwells_fini(&unknown);
	}
}

static void accounts_are_apart_by_what_is_elsewhere(void)
{
	const double a[] = {6, 3, 1, 0}, b[] = {5, 3, 0, 2}, none[] = {0, 0, 0, 0};

	CU_ASSERT_DOUBLE_EQUAL(spent_apart(a, b, 4), 0.2, 1e-12);
	CU_ASSERT_EQUAL(spent_apart(a, a, 4), 0);
	CU_ASSERT_EQUAL(spent_apart(none, none, 4), 0);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"nested stays are spent where they are", nested_stays_are_spent_where_they_are},
		{"accounts are apart by what is elsewhere",
		 accounts_are_apart_by_what_is_elsewhere},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{"dwell", NULL, NULL, NULL, NULL, cases}, CU_SUITE_INFO_NULL};

	return tap_run(suites);
}
