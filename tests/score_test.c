/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests who is slower than the best process, or than before. */
#include <string.h>

#include "consumers/watchdog/score.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

#define MS INT64_C(1000000)

static struct scores *scores;
static struct score_slow found[8];
static struct score_wish wish;
static int64_t now[8]; /* of each process */

static const struct score_region region = {.comm = 7, .what = OP_MPI_ALLREDUCE};

static void begin(void)
{
	scores_free(scores);
	scores = scores_new(1000);
	memset(now, 0, sizeof(now));
	wish = (struct score_wish){.below = 0.7, .cost = 0.05};
}

/* The process computes for @work, sends in the middle of it, and is in a collective until all have
 * come, @wait later. */
static void step(uint32_t process, int64_t work, int64_t wait)
{
	struct score_call call = {.process = process, .thread = process};

	call.start_ns = now[process] + work / 2;
	call.end_ns = call.start_ns + MS;
	scores_call(scores, &call);
	call.start_ns = call.end_ns + work / 2;
	call.end_ns = call.start_ns + wait;
	call.ends = region;
	scores_call(scores, &call);
	now[process] = call.end_ns;
}

static size_t find(void)
{
	return scores_find(scores, &wish, found, sizeof(found) / sizeof(found[0]));
}

static void alike_processes_are_not_slow(void)
{
	begin();
	for (int i = 0; i < 40; i++)
		for (uint32_t process = 0; process < 4; process++)
			step(process, 10 * MS + (i + (int)process) % 3 * MS, MS);
	CU_ASSERT_EQUAL(find(), 0);
}

/* All need as long for a step, as they wait for the slow one. */
static void who_computes_longer_is_slow(void)
{
	begin();
	for (int i = 0; i < 2 * SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 4; process++)
			step(process, process == 2 ? 20 * MS : 10 * MS,
			     process == 2 ? MS : 11 * MS);
	CU_ASSERT_EQUAL_FATAL(find(), 1);
	CU_ASSERT_EQUAL(found[0].process, 2);
	CU_ASSERT_EQUAL(found[0].region.what, OP_MPI_ALLREDUCE);
	CU_ASSERT_DOUBLE_EQUAL(found[0].relative, 0.5, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(found[0].own, 1, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(found[0].ns, 20e6, 1);
	CU_ASSERT_DOUBLE_EQUAL(found[0].best_ns, 10e6, 1);
	CU_ASSERT_DOUBLE_EQUAL(found[0].cost, 10.0 / 22, 0.01);
}

/* All of them become slow: none is slower than another one. */
static void who_was_faster_before_is_slow(void)
{
	begin();
	for (int i = 0; i < 4 * SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 4; process++)
			step(process, i < 2 * SCORE_TIMES ? 10 * MS : 16 * MS, MS);
	CU_ASSERT_EQUAL_FATAL(find(), 4);
	CU_ASSERT_DOUBLE_EQUAL(found[0].relative, 1, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(found[0].own, 10.0 / 16, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(found[0].past_ns, 10e6, 1);
}

static void what_costs_nothing_is_not_said(void)
{
	begin();
	for (int i = 0; i < 2 * SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 4; process++)
			step(process, process == 2 ? MS : MS / 2, 50 * MS);
	CU_ASSERT_EQUAL(find(), 0);
	wish.cost = 0.005;
	CU_ASSERT_EQUAL(find(), 1);
}

static void a_few_times_are_not_enough(void)
{
	begin();
	for (int i = 0; i < SCORE_TIMES - 1; i++)
		for (uint32_t process = 0; process < 2; process++)
			step(process, process ? 20 * MS : 10 * MS, MS);
	CU_ASSERT_EQUAL(find(), 0);
}

/* One hiccup, or a few, are no slowness. */
static void a_hiccup_is_not_slow(void)
{
	begin();
	for (int i = 0; i < 2 * SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 2; process++)
			step(process, process && i % 3 == 0 ? 100 * MS : 10 * MS, MS);
	CU_ASSERT_EQUAL(find(), 0);
}

static void what_is_over_is_not_said(void)
{
	begin();
	for (int i = 0; i < SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 2; process++)
			step(process, process ? 20 * MS : 10 * MS, MS);
	CU_ASSERT_EQUAL(find(), 1);
	wish.since_ns = now[1] + 1;
	CU_ASSERT_EQUAL(find(), 0);
}

static void the_costliest_come_first(void)
{
	begin();
	for (int i = 0; i < SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 8; process++)
			step(process, (10 + 5 * (int64_t)process) * MS, MS);
	CU_ASSERT_EQUAL_FATAL(scores_find(scores, &wish, found, 3), 3);
	for (size_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(found[i].process, 7 - i);
}

/* Regions that the program names. */
static void regions_by_label(void)
{
	const struct score_region named = {.what = 0x1234};

	begin();
	for (int i = 0; i < SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 3; process++)
			scores_add(scores, process, named, process == 1 ? 3e6 : 1e6,
				   (i + 1) * 4 * MS);
	CU_ASSERT_EQUAL_FATAL(find(), 1);
	CU_ASSERT_EQUAL(found[0].process, 1);
	CU_ASSERT_EQUAL(found[0].region.what, 0x1234);
}

static void memory_is_bounded(void)
{
	begin();
	for (uint32_t process = 0; process < 100000; process++)
		scores_add(scores, process, region, 1, 1);
	/* and who comes late has room */
	for (int i = 0; i < 2 * SCORE_TIMES; i++)
		for (uint32_t process = 0; process < 2; process++)
			step(process, process ? 20 * MS : 10 * MS, process ? MS : 11 * MS);
	CU_ASSERT_EQUAL(find(), 1);
	for (uint32_t thread = 0; thread < 100000; thread++)
		scores_call(scores, &(struct score_call){.thread = thread, .end_ns = 1});
	CU_ASSERT_EQUAL(find(), 1);
}

int main(void)
{
	static CU_TestInfo cases[] = {
		{"alike processes are not slow", alike_processes_are_not_slow},
		{"who computes longer is slow", who_computes_longer_is_slow},
		{"who was faster before is slow", who_was_faster_before_is_slow},
		{"what costs nothing is not said", what_costs_nothing_is_not_said},
		{"a few times are not enough", a_few_times_are_not_enough},
		{"a hiccup is not slow", a_hiccup_is_not_slow},
		{"what is over is not said", what_is_over_is_not_said},
		{"the costliest come first", the_costliest_come_first},
		{"regions by label", regions_by_label},
		{"memory is bounded", memory_is_bounded},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{.pName = "score", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};
	int rc = tap_run(suites);

	scores_free(scores);
	return rc;
}
