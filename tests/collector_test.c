/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the collector's path without MPI: reserves, nesting, modes. */
#include "node-agent/collect/core/collect.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node-agent/segment/segment-read.h"
#include "tests/collector-bed.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

/* --- one thread --- */

static void events_are_written(void)
{
	const struct segment_thread *t;

	collector_bed_start(2);
	for (uint64_t i = 1; i <= 10; i++)
		collector_bed_operate(CHANNEL_P2P, i, NULL);
	collector_bed_operate(CHANNEL_ENV, 0, NULL);
	t = segment_thread(collect.segment, 0);
	CU_ASSERT_EQUAL(t->tid, (uint32_t)getpid());
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 10);
	CU_ASSERT_EQUAL(collector_bed_events(0, CHANNEL_P2P), 10);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).bytes, 55);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_ENV), 1);
	/* the overflow element, and what was used: lazily */
	CU_ASSERT_EQUAL(segment_elements(collect.segment), 3);
	collect_stop();
}

static void sees_itself(void)
{
	struct tuple t;

	CU_ASSERT_EQUAL(segment_state(segment_thread(collect.segment, 0), &t), 1);
	CU_ASSERT_EQUAL(t.op, OP_MPI_SEND);
	CU_ASSERT_EQUAL(t.bytes, 4711);
	CU_ASSERT_EQUAL(t.flags, TUPLE_RUNNING);
	CU_ASSERT_TRUE(t.start > 0);
}

static void state_while_it_lasts(void)
{
	struct tuple t;

	collector_bed_start(1);
	collector_bed_operate(CHANNEL_P2P, 4711, sees_itself);
	CU_ASSERT_EQUAL(segment_state(segment_thread(collect.segment, 0), &t), 0);
	collect_stop();
}

static void nested_are_not_recorded(void)
{
	collector_bed_start(1);
	collector_bed_operate(CHANNEL_COLLECTIVE, 1, collector_bed_operate_twice);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_COLLECTIVE), 1);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 0);
	collector_bed_operate(CHANNEL_P2P, 1, NULL);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 1);
	collect_stop();
}

/* What a class that is off calls inside is not recorded either. */
static void off_is_nothing(void)
{
	struct segment_control *control;

	collector_bed_start(1);
	collector_bed_operate(CHANNEL_P2P, 1, NULL);
	control = segment_control_map(collect.segment);
	CU_ASSERT_PTR_NOT_NULL_FATAL(control);
	atomic_store(&control->mode[CHANNEL_COLLECTIVE], MODE_OFF);
	collector_bed_operate(CHANNEL_COLLECTIVE, 1, NULL);
	CU_ASSERT_EQUAL(collector_bed_events(0, CHANNEL_COLLECTIVE), 0);
	/* what is off is not entered: what it calls is on its own */
	collector_bed_operate(CHANNEL_COLLECTIVE, 1, collector_bed_operate_twice);
	CU_ASSERT_EQUAL(collector_bed_events(0, CHANNEL_COLLECTIVE), 0);
	CU_ASSERT_EQUAL(collector_bed_events(0, CHANNEL_P2P), 2);
	atomic_store(&control->mode[CHANNEL_COLLECTIVE], MODE_TRACE);
	collector_bed_operate(CHANNEL_COLLECTIVE, 1, collector_bed_operate_twice);
	CU_ASSERT_EQUAL(collector_bed_events(0, CHANNEL_COLLECTIVE), 1);
	segment_control_unmap(control);
	collect_stop();
}

static void switch_to(int channel, const uint32_t *comm, enum segment_mode mode)
{
	struct segment_control *control = segment_control_map(collect.segment);

	CU_ASSERT_PTR_NOT_NULL_FATAL(control);
	CU_ASSERT_TRUE(segment_class_switch(control, collect.segment, channel, comm, mode) > 0);
	segment_class_quiet(control, collect.segment);
	segment_control_unmap(control);
}

static void is_in_state(void)
{
	struct tuple t;

	CU_ASSERT_EQUAL(segment_state(segment_thread(collect.segment, 0), &t), 1);
}

static void is_in_no_state(void)
{
	struct tuple t;

	CU_ASSERT_EQUAL(segment_state(segment_thread(collect.segment, 0), &t), 0);
}

/* In every mode but off the counts are exact, and what left no tuple is known. */
static void modes(void)
{
	uint64_t ticks;

	collector_bed_start(1);
	collector_bed_operate(CHANNEL_P2P, 1, is_in_state);
	ticks = collector_bed_counts(0, CHANNEL_P2P).ticks;
	CU_ASSERT_TRUE(ticks > 0);
	switch_to(CHANNEL_P2P, NULL, MODE_COUNT);
	collector_bed_operate(CHANNEL_P2P, 10, is_in_no_state);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).ticks, ticks);
	switch_to(CHANNEL_P2P, NULL, MODE_TIME);
	collector_bed_operate(CHANNEL_P2P, 100, is_in_state);
	CU_ASSERT_TRUE(collector_bed_counts(0, CHANNEL_P2P).ticks > ticks);
	switch_to(CHANNEL_P2P, NULL, MODE_SAMPLE);
	collector_bed_operate(CHANNEL_P2P, 1000, is_in_state);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 1);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).calls, 4);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).skipped, 3);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).bytes, 1111);
	switch_to(CHANNEL_P2P, NULL, MODE_OFF);
	collector_bed_operate(CHANNEL_P2P, 1, is_in_no_state);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).calls, 4);
	switch_to(-1, NULL, MODE_TRACE);
	collector_bed_operate(CHANNEL_P2P, 1, is_in_state);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 2);
	collect_stop();
}

/* A class is an operation group on a communicator, and is switched on its own. */
static void classes(void)
{
	struct collect_classes a, b, later;
	uint32_t id = 7;

	collector_bed_start(1);
	collect_classes_init(&a, 7);
	collect_classes_init(&b, 8);
	collect_classes_init(&later, 9);
	collector_bed_operate_on(&a, 1);
	collector_bed_operate_on(&b, 1);
	CU_ASSERT_EQUAL(segment_classes(collect.segment), CHANNEL_MAX + 2);
	switch_to(CHANNEL_P2P, &id, MODE_OFF);
	collector_bed_operate_on(&a, 1);
	collector_bed_operate_on(&b, 1);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 3);
	switch_to(CHANNEL_P2P, NULL, MODE_COUNT);
	collector_bed_operate_on(&later, 1);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 3);
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).skipped, 1);
	collect_stop();
}

/* More communicators than classes: those of no communicator take the rest. */
static void classes_run_out(void)
{
	struct segment_plan plan = segments_plan();
	struct collect_classes comm;
	struct error e;

	segments_folder_empty(segments_dir);
	plan.classes = CHANNEL_MAX + 10;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
	for (uint32_t id = 1; id <= 100; id++) {
		collect_classes_init(&comm, id);
		collector_bed_operate_on(&comm, 1);
	}
	CU_ASSERT_EQUAL(collector_bed_counts(0, CHANNEL_P2P).calls, 100);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 100);
	CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_CLASSES);
	collect_stop();
}

/* An element for each operation; what is beyond the reserve is counted as lost. */
static void split_by_operation(void)
{
	struct segment_plan plan = segments_plan();
	uint64_t kept = 0;
	struct error e;

	segments_folder_empty(segments_dir);
	plan.split[CHANNEL_P2P] = SPLIT_OP;
	plan.elements = 40;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
	for (int round = 0; round < 3; round++)
		for (uint16_t op = 1; op <= 100; op++)
			collector_bed_operate_on(&collect_none, op);
	for (uint32_t i = 1; i < segment_elements(collect.segment); i++) {
		const struct segment_element *element = segment_element(collect.segment, i);

		CU_ASSERT_EQUAL(element->split, SPLIT_OP);
		CU_ASSERT_EQUAL(element_head(segment_ring(collect.segment, element)), 3);
		kept += 3;
	}
	CU_ASSERT_TRUE(kept >= 3 * 40);
	CU_ASSERT_EQUAL(kept + collector_bed_overflowed(), 300);
	CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_ELEMENTS);
	collect_stop();
}

static void polls_are_counted(void)
{
	const struct collect_caller caller = COLLECT_CALLER;

	collector_bed_start(1);
	for (int i = 0; i < 1000; i++)
		if (collect_enter(caller, &collect_none, CHANNEL_WAIT) == COLLECT_RECORD)
			collect_poll(caller);
	CU_ASSERT_EQUAL(atomic_load(&segment_thread(collect.segment, 0)->state.polls), 1000);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_WAIT), 0);
	collector_bed_operate(CHANNEL_P2P, 1, NULL);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 1);
	collect_stop();
}

static void without_a_segment(void)
{
	collector_bed_operate(CHANNEL_P2P, 1, collector_bed_operate_twice);
	CU_ASSERT_EQUAL(collect_enter(COLLECT_CALLER, &collect_none, CHANNEL_P2P), COLLECT_PASS);
	CU_ASSERT_EQUAL(collect_enter(COLLECT_CALLER, &collect_none, CHANNEL_P2P), COLLECT_PASS);
}

static CU_TestInfo path_cases[] = {
	{"events go to lazily made elements and are counted", events_are_written},
	{"the state line while an operation lasts", state_while_it_lasts},
	{"nested operations are not recorded", nested_are_not_recorded},
	{"a class that is off: nothing", off_is_nothing},
	{"in every mode what is not recorded is counted", modes},
	{"a class is switched on its own", classes},
	{"more communicators than classes", classes_run_out},
	{"an element for each operation", split_by_operation},
	{"polls in vain are counted only", polls_are_counted},
	{"without a segment nothing happens", without_a_segment},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{"path", segments_folder_make, segments_folder_remove, NULL, NULL, path_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
