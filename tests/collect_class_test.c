/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that counts are exact: of threads beyond the reserve, and of communicators that come and
 * go; and that numbers which cannot be compared are known. */
#include "node-agent/collect/core/collect.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

static void start(uint32_t threads, uint32_t classes)
{
	struct segment_plan plan = segments_plan();
	struct error e;

	segments_folder_empty(segments_dir);
	plan.threads = threads;
	plan.classes = classes;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
}

static void switch_to(int channel, const uint32_t *comm, enum segment_mode mode)
{
	struct segment_control *control = segment_control_map(collect.segment);

	CU_ASSERT_PTR_NOT_NULL_FATAL(control);
	CU_ASSERT_TRUE(segment_class_switch(control, collect.segment, channel, comm, mode) > 0);
	segment_class_quiet(control, collect.segment);
	segment_control_unmap(control);
}

/* A collective of @bytes, as a wrapper makes it. Returns the flags of its tuple. */
static uint16_t operate(struct collect_classes *classes, unsigned channel, uint64_t bytes)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t;

	if (collect_enter(caller, classes, channel) != COLLECT_RECORD)
		return 0;
	collect_fill_numbered(&t, OP_MPI_BARRIER, atomic_load(&classes->on), TUPLE_NO_PEER, 0,
			      bytes);
	collect_begin(&t);
	collect_stamp(&t);
	collect_extra(&t, classes, CHANNEL_COMPLETION);
	collect_end(caller, &t, classes, channel);
	CU_ASSERT_EQUAL(t.comm, classes->comm);
	return t.flags;
}

/* All that is counted in a channel: by classes, as agents read it, or by threads. */
static struct segment_sum by_classes(unsigned channel)
{
	struct segment_sum all = {.calls = 0};

	for (uint32_t i = 0; i < segment_classes(collect.segment); i++) {
		struct segment_class_sum sum;

		if (segment_class_read(collect.segment, i, &sum) < 0 || sum.channel != channel)
			continue;
		all.calls += sum.own.calls + sum.before.calls;
		all.bytes += sum.own.bytes + sum.before.bytes;
		all.ticks += sum.own.ticks + sum.before.ticks;
		all.skipped += sum.own.skipped + sum.before.skipped;
	}
	return all;
}

static struct segment_sum by_threads(unsigned channel)
{
	struct segment_sum all = {.calls = 0};

	for (uint32_t i = 0; i <= collect.segment->layout.threads_max; i++)
		segment_channel_sum(collect.segment, i, channel, &all);
	return all;
}

static void counted(unsigned channel, uint64_t calls, uint64_t bytes, uint64_t skipped)
{
	const struct segment_sum classes = by_classes(channel), threads = by_threads(channel);

	CU_ASSERT_EQUAL(classes.calls, calls);
	CU_ASSERT_EQUAL(classes.bytes, bytes);
	CU_ASSERT_EQUAL(classes.skipped, skipped);
	CU_ASSERT_EQUAL(memcmp(&classes, &threads, sizeof(classes)), 0);
}

/* --- more threads than the reserve --- */

#define THREADS 12
#define CALLS	1000

static struct collect_classes comm_of_all;
static pthread_barrier_t all_here;

static void *operate_often(void *arg)
{
	(void)arg;
	/* all of them are there at once: none gets the entry of one that has ended */
	pthread_barrier_wait(&all_here);
	for (uint64_t i = 1; i <= CALLS; i++)
		operate(&comm_of_all, CHANNEL_COLLECTIVE, i);
	pthread_barrier_wait(&all_here);
	return NULL;
}

static void threads_run(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&all_here, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, operate_often, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&all_here);
}

static void beyond_the_reserve(void)
{
	static const enum segment_mode modes[] = {MODE_TRACE, MODE_COUNT, MODE_TIME, MODE_SAMPLE};
	const uint64_t bytes = CALLS * (CALLS + 1) / 2;

	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		bool traced = modes[i] == MODE_TRACE;

		start(4, 0);
		collect_classes_init(&comm_of_all, 7);
		switch_to(-1, NULL, modes[i]);
		threads_run();
		counted(CHANNEL_COLLECTIVE, THREADS * CALLS, THREADS * bytes,
			traced ? 0 : THREADS * CALLS);
		counted(CHANNEL_COMPLETION, THREADS * CALLS, THREADS * bytes,
			traced ? 0 : THREADS * CALLS);
		CU_ASSERT_EQUAL(by_classes(CHANNEL_COLLECTIVE).ticks > 0,
				traced || modes[i] == MODE_TIME);
		CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_THREADS);
		collect_stop();
	}
}

/* --- communicators that come and go --- */

static void come_and_go(enum segment_mode mode)
{
	const uint32_t most = CHANNEL_MAX + 2 * (SEGMENT_CLASSES_LEFT + 1);
	const uint64_t n = 5000;
	struct collect_classes comm;

	start(2, 0);
	switch_to(-1, NULL, mode);
	for (uint32_t id = 1; id <= n; id++) {
		collect_classes_init(&comm, id);
		operate(&comm, CHANNEL_COLLECTIVE, 10);
		segment_class_leave(collect.segment, id);
		/* a request that ends later */
		operate(&comm, CHANNEL_COLLECTIVE, 1);
	}
	counted(CHANNEL_COLLECTIVE, 2 * n, 11 * n, mode == MODE_TRACE ? 0 : 2 * n);
	counted(CHANNEL_COMPLETION, 2 * n, 11 * n, mode == MODE_TRACE ? 0 : 2 * n);
	CU_ASSERT_TRUE(segment_classes(collect.segment) <= most);
	CU_ASSERT_EQUAL(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_CLASSES, 0);
	collect_stop();
}

static void counted_come_and_go(void)
{
	come_and_go(MODE_COUNT);
}

static void traced_come_and_go(void)
{
	come_and_go(MODE_TRACE);
}

/* The class of a communicator has what was counted on it, and not what was before. */
static void each_has_its_own(void)
{
	struct segment_class_sum sum;
	struct collect_classes comm;

	/* room for one communicator's two classes */
	start(1, CHANNEL_MAX + 2);
	for (uint32_t id = 1; id <= 3; id++) {
		collect_classes_init(&comm, id);
		for (uint32_t i = 0; i < id; i++)
			operate(&comm, CHANNEL_COLLECTIVE, 10);
		CU_ASSERT_EQUAL_FATAL(collect_class(&comm, CHANNEL_COLLECTIVE), CHANNEL_MAX);
		CU_ASSERT_EQUAL(segment_class_read(collect.segment, CHANNEL_MAX, &sum), 0);
		CU_ASSERT_EQUAL(sum.comm, id);
		CU_ASSERT_EQUAL(sum.mode, MODE_TRACE);
		CU_ASSERT_EQUAL(sum.own.calls, id);
		CU_ASSERT_EQUAL(sum.own.bytes, 10 * id);
		CU_ASSERT_EQUAL(sum.before.calls, id * (id - 1) / 2);
		switch_to(CHANNEL_COLLECTIVE, &id, MODE_COUNT);
		segment_class_leave(collect.segment, id);
	}
	/* the last one is there as long as nobody needs its room; it cannot be switched */
	CU_ASSERT_EQUAL(segment_class_read(collect.segment, CHANNEL_MAX, &sum), 0);
	CU_ASSERT_EQUAL(sum.comm, 3);
	CU_ASSERT_EQUAL(sum.mode, MODE_COUNT);
	collect_classes_init(&comm, 4);
	operate(&comm, CHANNEL_COLLECTIVE, 10);
	collect_classes_init(&comm, 5);
	operate(&comm, CHANNEL_COLLECTIVE, 10);
	CU_ASSERT_EQUAL(collect_class(&comm, CHANNEL_COLLECTIVE), CHANNEL_COLLECTIVE);
	CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_CLASSES);
	counted(CHANNEL_COLLECTIVE, 8, 80, 0);
	collect_stop();
}

static _Atomic bool over;

struct reading {
	uint64_t reads, wrong;
};

/* Reads sums while they change: they never go back, nor beyond what there is. */
static void *read_often(void *arg)
{
	struct reading *r = arg;
	uint64_t last = 0;

	while (!atomic_load(&over) || r->reads == 0) {
		uint64_t now = by_classes(CHANNEL_COLLECTIVE).calls;

		r->wrong += now < last || now > 2000;
		r->reads++;
		last = now;
	}
	return NULL;
}

static void sums_are_never_torn(void)
{
	struct reading reading = {.reads = 0};
	struct collect_classes comm;
	pthread_t reader;

	start(2, 0);
	atomic_store(&over, false);
	pthread_create(&reader, NULL, read_often, &reading);
	for (uint32_t id = 1; id <= 1000; id++) {
		collect_classes_init(&comm, id);
		operate(&comm, CHANNEL_COLLECTIVE, 10);
		operate(&comm, CHANNEL_COLLECTIVE, 10);
		segment_class_leave(collect.segment, id);
	}
	atomic_store(&over, true);
	pthread_join(reader, NULL);
	CU_ASSERT_TRUE(reading.reads > 0);
	CU_ASSERT_EQUAL(reading.wrong, 0);
	counted(CHANNEL_COLLECTIVE, 2000, 20000, 0);
	collect_stop();
}

/* --- numbers --- */

static void comm_init(struct collect_classes *comm, uint32_t id)
{
	collect_classes_init(comm, id);
	collect_classes_number(comm, 1u << CHANNEL_COLLECTIVE);
}

/* A communicator that was there while collectives were off does not know their numbers any more. */
static void off_loses_numbers(void)
{
	struct collect_classes used, unused, later, last;
	const uint32_t id = 4;

	start(1, 0);
	comm_init(&used, 1);
	comm_init(&unused, 2);
	CU_ASSERT_EQUAL(operate(&used, CHANNEL_COLLECTIVE, 1), 0);
	switch_to(CHANNEL_COLLECTIVE, NULL, MODE_COUNT);
	switch_to(CHANNEL_P2P, NULL, MODE_OFF);
	switch_to(-1, NULL, MODE_TRACE);
	CU_ASSERT_EQUAL(operate(&used, CHANNEL_COLLECTIVE, 1), 0);
	CU_ASSERT_EQUAL(operate(&used, CHANNEL_P2P, 1), 0);
	switch_to(CHANNEL_COLLECTIVE, NULL, MODE_OFF);
	comm_init(&later, 3);
	switch_to(CHANNEL_COLLECTIVE, NULL, MODE_SAMPLE);
	switch_to(CHANNEL_COLLECTIVE, NULL, MODE_TRACE);
	comm_init(&last, 4);
	CU_ASSERT_EQUAL(operate(&used, CHANNEL_COLLECTIVE, 1), TUPLE_UNNUMBERED);
	CU_ASSERT_EQUAL(operate(&unused, CHANNEL_COLLECTIVE, 1), TUPLE_UNNUMBERED);
	CU_ASSERT_EQUAL(operate(&later, CHANNEL_COLLECTIVE, 1), TUPLE_UNNUMBERED);
	CU_ASSERT_EQUAL(operate(&last, CHANNEL_COLLECTIVE, 1), 0);
	/* only on the one that is switched */
	switch_to(CHANNEL_COLLECTIVE, &id, MODE_OFF);
	switch_to(CHANNEL_COLLECTIVE, &id, MODE_TRACE);
	CU_ASSERT_EQUAL(operate(&last, CHANNEL_COLLECTIVE, 1), TUPLE_UNNUMBERED);
	CU_ASSERT_EQUAL(operate(&last, CHANNEL_COLLECTIVE, 1), TUPLE_UNNUMBERED);
	/* on the path again */
	CU_ASSERT_EQUAL(collect_mode(collect_class(&last, CHANNEL_COLLECTIVE)), MODE_TRACE);
	collect_stop();
}

/* What is numbered in every mode says so as soon as others may not have been. */
static void others_see_it_at_once(void)
{
	struct collect_classes comm;

	start(1, 0);
	comm_init(&comm, 1);
	collect_classes_check(&comm);
	CU_ASSERT_EQUAL(operate(&comm, CHANNEL_COMM, 1), 0);
	switch_to(CHANNEL_COLLECTIVE, NULL, MODE_OFF);
	collect_classes_check(&comm);
	CU_ASSERT_EQUAL(operate(&comm, CHANNEL_COMM, 1), TUPLE_UNNUMBERED);
	collect_stop();
}

/* Another thread has freed the communicator while an operation on it was under way, and its record
 * is a new one's, whose classes are not made yet: it is counted on no communicator. */
static void freed_while_under_way(void)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct collect_classes comm;
	struct tuple t;

	for (enum segment_mode mode = MODE_TRACE; mode < MODE_COUNT_OF; mode++) {
		if (mode == MODE_OFF)
			continue;
		start(1, 0);
		comm_init(&comm, 5);
		switch_to(CHANNEL_P2P, NULL, mode);
		CU_ASSERT_EQUAL(collect_enter(caller, &comm, CHANNEL_P2P), COLLECT_RECORD);
		collect_fill(&t, OP_MPI_SEND, comm.comm, 1, 0, 100);
		collect_begin(&t);
		comm_init(&comm, 6);
		collect_stamp(&t);
		collect_end(caller, &t, &comm, CHANNEL_P2P);
		CU_ASSERT_EQUAL(segment_count(collect.segment, 0, CHANNEL_P2P)->calls, 1);
		CU_ASSERT_EQUAL(by_classes(CHANNEL_P2P).bytes, 100);
		collect_stop();
	}
}

/* What is only kept book of, in a class that is off, still says where its completions were. */
static void sites_of_the_quiet(void)
{
	static const char here, there;
	struct collect_caller caller = {.site = &here, .frame = (uintptr_t)__builtin_dwarf_cfa()};
	struct segment_plan plan = segments_plan();
	const struct segment_element *element;
	struct error e;
	struct tuple t;

	segments_folder_empty(segments_dir);
	plan.split[CHANNEL_COMPLETION] = SPLIT_SITE;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
	CU_ASSERT_EQUAL(collect_enter(caller, &collect_none, CHANNEL_P2P), COLLECT_RECORD);
	collect_leave(caller);
	caller.site = &there;
	CU_ASSERT_TRUE(collect_enter_quietly(caller));
	collect_fill(&t, OP_MPI_IRECV, 0, 1, 0, 8);
	t.start = t.end = collect_now();
	collect_extra(&t, &collect_none, CHANNEL_COMPLETION);
	collect_leave(caller);
	element = segment_element(collect.segment, segment_elements(collect.segment) - 1);
	CU_ASSERT_EQUAL(element->channel, CHANNEL_COMPLETION);
	CU_ASSERT_EQUAL(element->key, (uintptr_t)&there);
	collect_stop();
}

/* A class that is made beforehand can be switched before its first use. */
static void before_first_use(void)
{
	struct collect_classes comm;
	const uint32_t id = 9;

	start(1, 0);
	comm_init(&comm, id);
	collect_classes_make(&comm, CHANNEL_P2P);
	switch_to(CHANNEL_P2P, &id, MODE_OFF);
	CU_ASSERT_EQUAL(collect_enter(COLLECT_CALLER, &comm, CHANNEL_P2P), COLLECT_PASS);
	collect_stop();
}

static CU_TestInfo count_cases[] = {
	{"12 threads, a reserve of 4: exact in every mode", beyond_the_reserve},
	{"5,000 communicators, counted: sums exact, few classes", counted_come_and_go},
	{"5,000 communicators, traced", traced_come_and_go},
	{"a class used again has the counts of its own communicator", each_has_its_own},
	{"sums are never torn", sums_are_never_torn},
	{"a communicator is freed while it is used", freed_while_under_way},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo number_cases[] = {
	{"numbers after an off period are marked, others are not", off_loses_numbers},
	{"what is always numbered is marked at once", others_see_it_at_once},
	{"a class is switched before its first use", before_first_use},
	{"call sites of what is only kept book of", sites_of_the_quiet},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{"counts", segments_folder_make, segments_folder_remove, NULL, NULL, count_cases},
		{"numbers", segments_folder_make, segments_folder_remove, NULL, NULL, number_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
