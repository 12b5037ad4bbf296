/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests classes of which one event in n is recorded: which ones, and that all are counted. */
#include "node-agent/collect/core/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "tests/collector-bed.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

#define COMM  0x1234u
#define CALLS 20000u

static struct segment_control *control(void)
{
	return (void *)((char *)collect.segment->header + collect.segment->layout.control_at);
}

static void reduce(int channel, unsigned power)
{
	segment_class_switch(control(), collect.segment, channel, NULL,
			     (enum segment_mode)(MODE_ONE_IN + power));
	segment_class_quiet(control(), collect.segment);
}

/* Is @n what chance may make of @all with one in 2^@power? Five standard deviations. */
static bool is_likely(uint64_t n, double all, unsigned power)
{
	double p = ldexp(1, -(int)power);

	return fabs((double)n - all * p) <= 5 * sqrt(all * p * (1 - p)) + 1;
}

static void words_and_modes(void)
{
	CU_ASSERT_EQUAL(segment_mode_find("1/2"), MODE_ONE_IN + 1);
	CU_ASSERT_EQUAL(segment_mode_find("1/65536"), MODE_ONE_IN + ONE_IN_MOST);
	for (unsigned mode = 0; mode < 256; mode++)
		CU_ASSERT_EQUAL(segment_mode_valid(mode),
				segment_mode_find(segment_mode_name(mode)) == (int)mode);
	CU_ASSERT_FALSE(segment_mode_valid(MODE_ONE_IN));
	CU_ASSERT_FALSE(segment_mode_valid(MODE_TRIAL));
	CU_ASSERT_EQUAL(segment_mode_find("1/1"), -1);
	CU_ASSERT_EQUAL(segment_mode_find("1/3"), -1);
	CU_ASSERT_EQUAL(segment_mode_find("1/131072"), -1);
}

static void all_are_counted(void)
{
	for (unsigned power = 1; power <= ONE_IN_MOST; power += 3) {
		struct segment_sum sum;
		uint64_t recorded;

		collector_bed_start(1);
		reduce(CHANNEL_P2P, power);
		for (unsigned i = 0; i < CALLS; i++)
			collector_bed_operate(CHANNEL_P2P, 3, NULL);
		sum = collector_bed_counts(0, CHANNEL_P2P);
		recorded = collector_bed_head(0, CHANNEL_P2P);
		CU_ASSERT_EQUAL(sum.calls, CALLS);
		CU_ASSERT_EQUAL(sum.bytes, 3 * CALLS);
		CU_ASSERT_EQUAL(sum.skipped + recorded, CALLS);
		CU_ASSERT_TRUE(is_likely(recorded, CALLS, power));
		/* others are not touched */
		collector_bed_operate(CHANNEL_COLLECTIVE, 3, NULL);
		CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_COLLECTIVE), 1);
		collect_stop();
	}
}

/* A program that repeats eight calls: each of them is recorded as often as the others. */
static void periods_have_no_blind_spot(void)
{
	unsigned recorded[8] = {0};

	collector_bed_start(1);
	reduce(CHANNEL_P2P, 3);
	for (unsigned i = 0; i < CALLS; i++) {
		uint64_t before = collector_bed_head(0, CHANNEL_P2P);

		collector_bed_operate(CHANNEL_P2P, 1, NULL);
		recorded[i % 8] += collector_bed_head(0, CHANNEL_P2P) != before;
	}
	for (unsigned i = 0; i < 8; i++)
		CU_ASSERT_TRUE(is_likely(recorded[i], CALLS / 8, 3));
	collect_stop();
}

/* Makes @n collectives as a member of the communicator. Writes which ones were recorded. */
static void member(bool *recorded, unsigned n)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct collect_classes world;

	collector_bed_start(1);
	collect_classes_init(&world, COMM);
	collect_classes_number(&world, 1u << CHANNEL_COLLECTIVE);
	reduce(-1, 2);
	for (unsigned i = 0; i < n; i++) {
		struct tuple t;

		recorded[i] = false;
		if (collect_enter(caller, &world, CHANNEL_COLLECTIVE) != COLLECT_RECORD) {
			CU_FAIL("it is counted");
			continue;
		}
		recorded[i] = collect_mode_inside() == MODE_TRACE;
		collect_fill_numbered(&t, OP_MPI_IALLREDUCE, atomic_load(&world.on), TUPLE_NO_PEER,
				      i, 8);
		atomic_store(&world.next, i + 1);
		collect_begin(&t);
		t.flags |= TUPLE_COMPLETION;
		collect_extra(&t, &world, CHANNEL_COMPLETION);
		t.flags = 0;
		collect_stamp(&t);
		collect_end(caller, &t, &world, CHANNEL_COLLECTIVE);
		CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_COLLECTIVE),
				collector_bed_head(0, CHANNEL_COMPLETION));
	}
	CU_ASSERT_FALSE(atomic_load(&world.on) >> 48 & TUPLE_UNNUMBERED);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_COMPLETION).calls, n);
	collect_stop();
}

/* Members record the same collectives, and their completions with them. */
static void members_agree(void)
{
	static bool one[2000], other[2000];
	unsigned n = 0;

	member(one, 2000);
	member(other, 2000);
	CU_ASSERT_EQUAL(memcmp(one, other, sizeof(one)), 0);
	for (unsigned i = 0; i < 2000; i++)
		n += one[i];
	CU_ASSERT_TRUE(is_likely(n, 2000, 2));
}

/* What is started in a call that is passed over has a time of its begin, as it may be recorded. */
static void starts_have_times(void)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = OP_MPI_ISEND};
	unsigned passed = 0;

	collector_bed_start(1);
	reduce(CHANNEL_P2P, ONE_IN_MOST);
	for (unsigned i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(collect_enter(caller, &collect_none, CHANNEL_P2P), COLLECT_RECORD);
		collect_begin(&t);
		passed += t.start == 0;
		CU_ASSERT_NOT_EQUAL(collect_started(&t), 0);
		collect_stamp(&t);
		collect_end(caller, &t, &collect_none, CHANNEL_P2P);
	}
	CU_ASSERT_TRUE(passed > 90);
	segment_class_switch(control(), collect.segment, CHANNEL_P2P, NULL, MODE_COUNT);
	CU_ASSERT_EQUAL(collect_enter(caller, &collect_none, CHANNEL_P2P), COLLECT_RECORD);
	collect_begin(&t);
	CU_ASSERT_EQUAL(collect_started(&t), 0);
	collect_end(caller, &t, &collect_none, CHANNEL_P2P);
	collect_stop();
}

/* A class that was off is recorded in part from then on; its numbers are no longer compared. */
static void from_off(void)
{
	struct collect_classes world;
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = OP_MPI_BARRIER};

	collector_bed_start(1);
	collect_classes_init(&world, COMM);
	collect_classes_number(&world, 1u << CHANNEL_COLLECTIVE);
	collect_classes_make(&world, CHANNEL_COLLECTIVE);
	segment_class_switch(control(), collect.segment, -1, NULL, MODE_OFF);
	CU_ASSERT_EQUAL(collect_enter(caller, &world, CHANNEL_COLLECTIVE), COLLECT_PASS);
	reduce(-1, 1);
	CU_ASSERT_EQUAL(collect_enter(caller, &world, CHANNEL_COLLECTIVE), COLLECT_RECORD);
	collect_begin(&t);
	collect_stamp(&t);
	collect_end(caller, &t, &world, CHANNEL_COLLECTIVE);
	CU_ASSERT_TRUE(atomic_load(&world.on) >> 48 & TUPLE_UNNUMBERED);
	CU_ASSERT_EQUAL(collect_mode(collect_class(&world, CHANNEL_COLLECTIVE)), MODE_ONE_IN + 1);
	collect_stop();
}

static CU_TestInfo cases[] = {
	{"words stand for modes", words_and_modes},
	{"all are counted, and a part is recorded", all_are_counted},
	{"a program that repeats itself has no blind spot", periods_have_no_blind_spot},
	{"all members record the same collectives", members_agree},
	{"what is passed over says when it began", starts_have_times},
	{"a class that was off has no numbers to compare", from_off},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "one in n",
		 .pInitFunc = segments_folder_make,
		 .pCleanupFunc = segments_folder_remove,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
