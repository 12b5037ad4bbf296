/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which operations are timed, and what comes into the sums of what they cost. */
#include "node-agent/collect/core/collect-swift.h"

#include "node-agent/segment/segment-read.h"
#include "tests/collector-bed.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

#define EVENTS 64000u

static struct segment_timed_sum sum_of(unsigned channel)
{
	struct segment_timed_sum sums[CHANNEL_PROGRAMS] = {{0}};

	/* an agent has read this of the file */
	collect.segment->said = *collect.segment->header;
	segment_timed_read(collect.segment, sums);
	return sums[channel];
}

static void start(uint32_t capacity, enum segment_split split)
{
	struct segment_plan plan = segments_plan();
	struct error e;

	segments_folder_empty(segments_dir);
	plan.threads = 2;
	plan.capacity[CHANNEL_P2P] = capacity;
	plan.split[CHANNEL_P2P] = split;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
}

/* About as many were timed as should have been, and they cost as much as they may. */
static void check(const struct segment_timed_sum *sum, unsigned events)
{
	uint64_t timed = sum->n + sum->cut;
	double mean = sum->n ? (double)sum->ticks / (double)sum->n : 0;

	CU_ASSERT_TRUE(timed > events / 64 * 8 / 10 && timed < events / 64 * 12 / 10);
	CU_ASSERT_TRUE(sum->cut < timed / 10);
	CU_ASSERT_TRUE(mean > 10 && mean < SEGMENT_TIMED_MOST / 4.0);
	CU_ASSERT_TRUE((double)sum->squares >= mean * (double)sum->ticks * 0.999);
}

/* As a wrapper of the fast path. */
static __attribute__((noinline)) void operate_swiftly(void)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = OP_MPI_SEND, .peer = 1};

	if (collect_way(&collect_none, CHANNEL_P2P) != COLLECT_SWIFTLY) {
		collector_bed_operate(CHANNEL_P2P, 1, NULL);
		return;
	}
	collect_swift_enter(caller);
	if (!collect_swift_room(CHANNEL_P2P)) {
		collect_swift_leave();
		collector_bed_operate(CHANNEL_P2P, 1, NULL);
		return;
	}
	collect_swift_begin(&t);
	collect_swift_stamp(&t);
	collect_swift_end(caller, &t, &collect_none, CHANNEL_P2P);
}

/* --- which are timed --- */

static void one_in_64(void)
{
	static const uint32_t capacities[] = {1, 2, 64, 200, 1000};
	struct segment_timed_sum sum;

	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		start(capacities[i], SPLIT_THREAD);
		for (unsigned k = 0; k < EVENTS; k++)
			collector_bed_operate(CHANNEL_P2P, k, NULL);
		sum = sum_of(CHANNEL_P2P);
		check(&sum, EVENTS);
		CU_ASSERT_EQUAL(sum.more, 0);
		CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), EVENTS);
		CU_ASSERT_EQUAL(collector_bed_events(0, CHANNEL_P2P), EVENTS);
		CU_ASSERT_EQUAL(sum_of(CHANNEL_COLLECTIVE).n, 0);
		CU_ASSERT_TRUE(collect.segment->header->cost_ps > 1000);
		CU_ASSERT_TRUE(collect.segment->header->cost_ps < 10000000);
		collect_stop();
	}
}

static void swiftly(void)
{
	static const uint32_t capacities[] = {1, 2, 64, 200, 1000};
	struct segment_timed_sum sum;

	for (size_t i = 0; i < sizeof(capacities) / sizeof(capacities[0]); i++) {
		start(capacities[i], SPLIT_THREAD);
		for (unsigned k = 0; k < EVENTS; k++)
			operate_swiftly();
		sum = sum_of(CHANNEL_P2P);
		check(&sum, EVENTS);
		CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), EVENTS);
		CU_ASSERT_EQUAL(collect_self.state, collect_self.idle);
		collect_stop();
	}
}

static void split(void)
{
	struct segment_timed_sum sum;

	start(100, SPLIT_OP);
	for (unsigned k = 0; k < EVENTS; k++)
		collector_bed_operate(CHANNEL_P2P, k, NULL);
	sum = sum_of(CHANNEL_P2P);
	check(&sum, EVENTS);
	collect_stop();
}

/* --- what is not in the sums --- */

/* What is called is not the collector. */
static void spend(void)
{
	uint64_t since = clock_mono_ns();

	while (clock_mono_ns() - since < 1000)
		continue;
}

static void without_the_call(void)
{
	struct segment_timed_sum sum;

	start(200, SPLIT_THREAD);
	for (unsigned k = 0; k < EVENTS / 4; k++)
		collector_bed_operate(CHANNEL_P2P, k, spend);
	sum = sum_of(CHANNEL_P2P);
	check(&sum, EVENTS / 4);
	CU_ASSERT_TRUE(collect.segment->header->cost_ps < 1000000);
	collect_stop();
}

/* An operation that was left is not taken together with the next one. */
static void without_what_was_left(void)
{
	start(200, SPLIT_THREAD);
	collector_bed_operate(CHANNEL_P2P, 0, NULL);
	for (unsigned k = 0; k < EVENTS / 16; k++) {
		collect_self.timing = 1;
		collector_bed_operate(CHANNEL_P2P, 0, NULL);
	}
	/* those that were chosen begin anew */
	CU_ASSERT_TRUE(sum_of(CHANNEL_P2P).n < EVENTS / 16 / 64 * 2);
	CU_ASSERT_TRUE(sum_of(CHANNEL_P2P).cut >= EVENTS / 16 - EVENTS / 16 / 64 * 2);
	collect_stop();
}

static void switch_to(unsigned mode)
{
	((_Atomic uint8_t *)(uintptr_t)collect.mode)[CHANNEL_P2P] = (uint8_t)mode;
}

static void modes_without_events(void)
{
	start(200, SPLIT_THREAD);
	collector_bed_operate(CHANNEL_P2P, 0, NULL);
	for (unsigned mode = MODE_COUNT; mode <= MODE_TIME; mode++) {
		switch_to(mode);
		for (unsigned k = 0; k < 1000; k++)
			collector_bed_operate(CHANNEL_P2P, 0, NULL);
	}
	CU_ASSERT_EQUAL(sum_of(CHANNEL_P2P).n + sum_of(CHANNEL_P2P).cut, 0);
	CU_ASSERT_EQUAL(sum_of(CHANNEL_P2P).passed, 0);
	collect_stop();
}

static void complete(void)
{
	const struct tuple t = {
		.start = 1, .end = 2, .op = OP_MPI_IRECV, .flags = TUPLE_COMPLETION};

	collect_extra(&t, &collect_none, CHANNEL_COMPLETION);
}

/* One operation in 64 is timed, whatever else comes with it. */
static void completions_passed_over(void)
{
	struct segment_timed_sum sum;

	start(200, SPLIT_THREAD);
	collector_bed_operate(CHANNEL_P2P, 0, NULL);
	((_Atomic uint8_t *)(uintptr_t)collect.mode)[CHANNEL_COMPLETION] = MODE_SAMPLE;
	switch_to(MODE_SAMPLE);
	for (unsigned k = 0; k < EVENTS; k++)
		collector_bed_operate(CHANNEL_P2P, 1, complete);
	sum = sum_of(CHANNEL_P2P);
	CU_ASSERT_TRUE(sum.passed > EVENTS / 64 * 8 / 10);
	CU_ASSERT_TRUE(sum.passed < EVENTS / 64 * 12 / 10);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_COMPLETION).skipped, EVENTS);
	collect_stop();
}

/* In these modes seeing an operation costs something: one in 64 is timed, and is no event for it.
 */
static void passed_over(void)
{
	static const unsigned modes[] = {MODE_SAMPLE, MODE_ONE_IN + ONE_IN_MOST};
	struct segment_timed_sum sum;

	for (unsigned i = 0; i < 2; i++) {
		uint64_t before;

		start(200, SPLIT_THREAD);
		collector_bed_operate(CHANNEL_P2P, 0, NULL);
		switch_to(modes[i]);
		for (unsigned k = 0; k < EVENTS; k++)
			collector_bed_operate(CHANNEL_P2P, 1, spend);
		before = collector_bed_head(0, CHANNEL_P2P);
		sum = sum_of(CHANNEL_P2P);
		/* as SPEND takes longer than the collector, it is not in it */
		CU_ASSERT_TRUE(sum.passed > EVENTS / 64 * 8 / 10);
		CU_ASSERT_TRUE(sum.passed < EVENTS / 64 * 12 / 10);
		CU_ASSERT_TRUE(sum.passed_ticks > 0 && sum.passed_ticks / sum.passed < 1000);
		CU_ASSERT_TRUE(before <= 20);
		CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).calls, EVENTS + 1);
		CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).skipped, EVENTS + 1 - before);
		/* traced again, it is on the fast path after some operations at most */
		switch_to(MODE_TRACE);
		for (unsigned k = 0; k < EVENTS / 8; k++)
			collector_bed_operate(CHANNEL_P2P, 1, NULL);
		CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), before + EVENTS / 8);
		CU_ASSERT_EQUAL(sum_of(CHANNEL_P2P).passed, sum.passed);
		CU_ASSERT_NOT_EQUAL(collect_self.passes, 1);
		collect_stop();
	}
}

/* A poll that finds nothing ends without an event: what comes later is not part of it. */
static void without_polls(void)
{
	const struct collect_caller caller = COLLECT_CALLER;

	start(200, SPLIT_THREAD);
	collector_bed_operate(CHANNEL_P2P, 0, NULL);
	collect_self.timing = collect_now();
	CU_ASSERT_EQUAL(collect_enter(caller, &collect_none, CHANNEL_P2P), COLLECT_RECORD);
	collect_poll(caller);
	CU_ASSERT_EQUAL(collect_self.timing, 0);
	collect_stop();
}

/* A file of an earlier release has no sums. */
static void none_said(void)
{
	struct segment_timed_sum sums[CHANNEL_PROGRAMS] = {{0}};

	start(200, SPLIT_THREAD);
	for (unsigned k = 0; k < 1000; k++)
		collector_bed_operate(CHANNEL_P2P, k, NULL);
	collect.segment->said = *collect.segment->header;
	collect.segment->said.timed_at = 0;
	segment_timed_read(collect.segment, sums);
	CU_ASSERT_EQUAL(sums[CHANNEL_P2P].n, 0);
	collect_stop();
}

static CU_TestInfo cases[] = {
	{"a random one in 64 is timed", one_in_64},
	{"... on the fast path, too", swiftly},
	{"... and in split channels", split},
	{"the call itself is not in it", without_the_call},
	{"what was left before is not in it", without_what_was_left},
	{"polls that find nothing are not in it", without_polls},
	{"operations that are only counted are not timed", modes_without_events},
	{"operations that are passed over are timed apart", passed_over},
	{"... one in 64, completions or not", completions_passed_over},
	{"segments without sums are read", none_said},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "timing",
		 .pInitFunc = segments_folder_make,
		 .pCleanupFunc = segments_folder_remove,
		 .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
