/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the numbers of tuples that have come: each once, by id and by name. */
#include "consumers/client/intervals.h"

#include "tests/random.h"
#include "tests/tap.h"

static bool all(void *arg, uint32_t element)
{
	(void)arg;
	(void)element;
	return true;
}

static void numbers_count_once(void)
{
	struct intervals *n = intervals_new();

	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 0, 10), 10);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 0, 10), 0);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 5, 15), 5);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 20, 30), 10);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 5);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 14, 18), 3);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 2);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 10, 40), 12);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 0);
	/* from the beginning, or from now on */
	CU_ASSERT_EQUAL(intervals_take(n, 2, 0, 7, 8), 1);
	CU_ASSERT_EQUAL(intervals_take(n, 3, 7, 7, 8), 1);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 7);
	intervals_forget(n, 2);
	intervals_forget(n, 4);
	CU_ASSERT_EQUAL(intervals_take(n, 2, 0, 100, 110), 10);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 7);
	CU_ASSERT_EQUAL(intervals_take(n, 2, 0, 50, 60), 0);
	intervals_free(n);
	intervals_free(NULL);
}

/* A leaf that numbers its elements anew, and begins them again. */
static void numbers_follow_names(void)
{
	struct intervals *n = intervals_new();

	CU_ASSERT_FALSE(intervals_call(n, 1, "/a", 0, false));
	CU_ASSERT_FALSE(intervals_call(n, 2, "/b", 0, false));
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 0, 10), 10);
	CU_ASSERT_EQUAL(intervals_take(n, 2, 0, 0, 20), 20);
	CU_ASSERT_TRUE(intervals_call(n, 1, "/b", 0, false));
	CU_ASSERT_TRUE(intervals_call(n, 2, "/a", 0, false));
	CU_ASSERT_FALSE(intervals_call(n, 3, "/c", 0, false));
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 0, 21), 1);
	CU_ASSERT_EQUAL(intervals_take(n, 2, 0, 0, 12), 2);
	CU_ASSERT_EQUAL(intervals_take(n, 3, 0, 0, 7), 7);
	/* the same element with another name; one that nobody has now, and then somebody */
	CU_ASSERT_TRUE(intervals_call(n, 3, "/d", 0, true));
	CU_ASSERT_EQUAL(intervals_take(n, 3, 0, 0, 8), 1);
	CU_ASSERT_FALSE(intervals_call(n, 3, "/e", 0, false));
	CU_ASSERT_EQUAL(intervals_take(n, 3, 0, 0, 8), 8);
	CU_ASSERT_TRUE(intervals_call(n, 9, "/d", 0, false));
	CU_ASSERT_EQUAL(intervals_take(n, 9, 0, 0, 9), 1);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 0);
	intervals_free(n);
}

/* The run begins again under the same name, while what is left of before still comes. */
static void executions_apart(void)
{
	struct intervals *n = intervals_new();

	CU_ASSERT_EQUAL(intervals_call(n, 1, "/a", 7, false), INTERVALS_NEW);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 0, 10), 10);
	CU_ASSERT_EQUAL(intervals_call(n, 2, "/a", 8, false), INTERVALS_ANOTHER);
	CU_ASSERT_EQUAL(intervals_take(n, 2, 0, 0, 4), 4);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 5, 12), 2);
	/* both are said again */
	CU_ASSERT_EQUAL(intervals_call(n, 1, "/a", 7, true), INTERVALS_KNOWN);
	CU_ASSERT_EQUAL(intervals_take(n, 1, 0, 5, 12), 0);
	CU_ASSERT_EQUAL(intervals_call(n, 2, "/a", 8, true), INTERVALS_KNOWN);
	CU_ASSERT_EQUAL(intervals_take(n, 2, 0, 0, 4), 0);
	/* with another number, or with the one of before */
	CU_ASSERT_EQUAL(intervals_call(n, 3, "/a", 8, false), INTERVALS_KNOWN);
	CU_ASSERT_EQUAL(intervals_take(n, 3, 0, 0, 5), 1);
	CU_ASSERT_EQUAL(intervals_call(n, 3, "/a", 9, true), INTERVALS_ANOTHER);
	CU_ASSERT_EQUAL(intervals_take(n, 3, 0, 0, 3), 3);
	/* one that does not say it is the same */
	CU_ASSERT_EQUAL(intervals_call(n, 4, "/a", 0, false), INTERVALS_KNOWN);
	CU_ASSERT_EQUAL(intervals_take(n, 4, 0, 0, 3), 0);
	/* while nobody has it */
	CU_ASSERT_EQUAL(intervals_call(n, 4, "/b", 9, false), INTERVALS_NEW);
	CU_ASSERT_EQUAL(intervals_call(n, 5, "/a", 10, false), INTERVALS_ANOTHER);
	CU_ASSERT_EQUAL(intervals_take(n, 5, 0, 0, 2), 2);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 0);
	intervals_free(n);
}

/* Any order, any repeats: in the end each counts once. */
static void numbers_in_any_order(void)
{
	struct intervals *n = intervals_new();
	uint64_t seed = 3, sum = 0, from;

	for (unsigned i = 0; i < 2000; i++) {
		from = random_below(&seed, 10000);
		sum += intervals_take(n, 1, 0, from, from + random_below(&seed, 20));
	}
	sum += intervals_take(n, 1, 0, 0, 10000);
	sum += intervals_take(n, 1, 0, 10000, 10020);
	CU_ASSERT_EQUAL(sum, 10020);
	CU_ASSERT_EQUAL(intervals_gaps(n, all, NULL), 0);
	intervals_free(n);
}

int main(void)
{
	static CU_TestInfo numbers[] = {
		{"numbers count once", numbers_count_once},
		{"numbers follow names", numbers_follow_names},
		{"executions apart", executions_apart},
		{"numbers in any order", numbers_in_any_order},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "numbers", .pTests = numbers},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
