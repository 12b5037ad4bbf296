/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the collector's path without MPI: threads, reserves, nesting, modes, forks. */
#include "node-agent/collect/core/collect-class.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node-agent/segment/segment-read.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

static void start(uint32_t threads)
{
	struct segment_plan plan = segments_plan();
	struct error e;

	segments_folder_empty(segments_dir);
	plan.threads = threads;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
}

/* One operation of @bytes, as a wrapper makes it, that calls @inner while it lasts. */
static __attribute__((noinline)) void operate(unsigned channel, uint64_t bytes, void (*inner)(void))
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = OP_MPI_SEND, .peer = 1, .bytes = bytes};
	enum collect_entry entry = collect_enter(caller, &collect_none, channel);

	if (entry == COLLECT_RECORD)
		collect_begin(&t);
	if (inner)
		inner();
	if (entry == COLLECT_RECORD) {
		collect_stamp(&t);
		collect_end(caller, &t, &collect_none, channel);
	}
}

static uint64_t head_of(uint32_t thread, unsigned channel)
{
	const struct segment *s = collect.segment;

	for (uint32_t i = 0; i < segment_elements(s); i++) {
		const struct segment_element *element = segment_element(s, i);

		if (element->thread == thread && element->channel == channel)
			return element_head(segment_ring(s, element));
	}
	return 0;
}

static uint64_t overflowed(void)
{
	return head_of(SEGMENT_NO_THREAD, 0);
}

static struct segment_sum counts_of(uint32_t thread, unsigned channel)
{
	struct segment_sum sum = {.calls = 0};

	segment_channel_sum(collect.segment, thread, channel, &sum);
	return sum;
}

static uint64_t events_of(uint32_t thread, unsigned channel)
{
	return counts_of(thread, channel).calls;
}

/* --- one thread --- */

static void events_are_written(void)
{
	const struct segment_thread *t;

	start(2);
	for (uint64_t i = 1; i <= 10; i++)
		operate(CHANNEL_P2P, i, NULL);
	operate(CHANNEL_ENV, 0, NULL);
	t = segment_thread(collect.segment, 0);
	CU_ASSERT_EQUAL(t->tid, (uint32_t)getpid());
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 10);
	CU_ASSERT_EQUAL(events_of(0, CHANNEL_P2P), 10);
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).bytes, 55);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_ENV), 1);
	/* the overflow element, and what was used: lazily */
	CU_ASSERT_EQUAL(segment_elements(collect.segment), 3);
	CU_ASSERT_TRUE(collect.segment->header->cost_ps > 1000);
	CU_ASSERT_TRUE(collect.segment->header->cost_ps < 100000000);
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

	start(1);
	operate(CHANNEL_P2P, 4711, sees_itself);
	CU_ASSERT_EQUAL(segment_state(segment_thread(collect.segment, 0), &t), 0);
	collect_stop();
}

static void two_inside(void)
{
	operate(CHANNEL_P2P, 1, NULL);
	operate(CHANNEL_COLLECTIVE, 1, NULL);
}

static void nested_are_not_recorded(void)
{
	start(1);
	operate(CHANNEL_COLLECTIVE, 1, two_inside);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_COLLECTIVE), 1);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 0);
	operate(CHANNEL_P2P, 1, NULL);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 1);
	collect_stop();
}

/* What a class that is off calls inside is not recorded either. */
static void off_is_nothing(void)
{
	struct segment_control *control;

	start(1);
	operate(CHANNEL_P2P, 1, NULL);
	control = segment_control_map(collect.segment);
	CU_ASSERT_PTR_NOT_NULL_FATAL(control);
	atomic_store(&control->mode[CHANNEL_COLLECTIVE], MODE_OFF);
	operate(CHANNEL_COLLECTIVE, 1, NULL);
	CU_ASSERT_EQUAL(events_of(0, CHANNEL_COLLECTIVE), 0);
	/* what is off is not entered: what it calls is on its own */
	operate(CHANNEL_COLLECTIVE, 1, two_inside);
	CU_ASSERT_EQUAL(events_of(0, CHANNEL_COLLECTIVE), 0);
	CU_ASSERT_EQUAL(events_of(0, CHANNEL_P2P), 2);
	atomic_store(&control->mode[CHANNEL_COLLECTIVE], MODE_TRACE);
	operate(CHANNEL_COLLECTIVE, 1, two_inside);
	CU_ASSERT_EQUAL(events_of(0, CHANNEL_COLLECTIVE), 1);
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

	start(1);
	operate(CHANNEL_P2P, 1, is_in_state);
	ticks = counts_of(0, CHANNEL_P2P).ticks;
	CU_ASSERT_TRUE(ticks > 0);
	switch_to(CHANNEL_P2P, NULL, MODE_COUNT);
	operate(CHANNEL_P2P, 10, is_in_no_state);
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).ticks, ticks);
	switch_to(CHANNEL_P2P, NULL, MODE_TIME);
	operate(CHANNEL_P2P, 100, is_in_state);
	CU_ASSERT_TRUE(counts_of(0, CHANNEL_P2P).ticks > ticks);
	switch_to(CHANNEL_P2P, NULL, MODE_SAMPLE);
	operate(CHANNEL_P2P, 1000, is_in_state);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 1);
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).calls, 4);
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).skipped, 3);
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).bytes, 1111);
	switch_to(CHANNEL_P2P, NULL, MODE_OFF);
	operate(CHANNEL_P2P, 1, is_in_no_state);
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).calls, 4);
	switch_to(-1, NULL, MODE_TRACE);
	operate(CHANNEL_P2P, 1, is_in_state);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 2);
	collect_stop();
}

static void operate_on(struct collect_classes *classes, uint16_t op)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = op, .peer = 1, .comm = classes->comm};

	if (collect_enter_any(caller, classes, CHANNEL_P2P) != COLLECT_RECORD)
		return;
	collect_begin(&t);
	collect_stamp(&t);
	collect_end(caller, &t, classes, CHANNEL_P2P);
}

/* A class is an operation group on a communicator, and is switched on its own. */
static void classes(void)
{
	struct collect_classes a, b, later;
	uint32_t id = 7;

	start(1);
	collect_classes_init(&a, 7);
	collect_classes_init(&b, 8);
	collect_classes_init(&later, 9);
	operate_on(&a, 1);
	operate_on(&b, 1);
	CU_ASSERT_EQUAL(segment_classes(collect.segment), CHANNEL_MAX + 2);
	switch_to(CHANNEL_P2P, &id, MODE_OFF);
	operate_on(&a, 1);
	operate_on(&b, 1);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 3);
	switch_to(CHANNEL_P2P, NULL, MODE_COUNT);
	operate_on(&later, 1);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 3);
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).skipped, 1);
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
		operate_on(&comm, 1);
	}
	CU_ASSERT_EQUAL(counts_of(0, CHANNEL_P2P).calls, 100);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 100);
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
			operate_on(&collect_none, op);
	for (uint32_t i = 1; i < segment_elements(collect.segment); i++) {
		const struct segment_element *element = segment_element(collect.segment, i);

		CU_ASSERT_EQUAL(element->split, SPLIT_OP);
		CU_ASSERT_EQUAL(element_head(segment_ring(collect.segment, element)), 3);
		kept += 3;
	}
	CU_ASSERT_TRUE(kept >= 3 * 40);
	CU_ASSERT_EQUAL(kept + overflowed(), 300);
	CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_ELEMENTS);
	collect_stop();
}

static void polls_are_counted(void)
{
	const struct collect_caller caller = COLLECT_CALLER;

	start(1);
	for (int i = 0; i < 1000; i++)
		if (collect_enter(caller, &collect_none, CHANNEL_WAIT) == COLLECT_RECORD)
			collect_poll(caller);
	CU_ASSERT_EQUAL(atomic_load(&segment_thread(collect.segment, 0)->state.polls), 1000);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_WAIT), 0);
	operate(CHANNEL_P2P, 1, NULL);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 1);
	collect_stop();
}

static void without_a_segment(void)
{
	operate(CHANNEL_P2P, 1, two_inside);
	CU_ASSERT_EQUAL(collect_enter(COLLECT_CALLER, &collect_none, CHANNEL_P2P), COLLECT_PASS);
	CU_ASSERT_EQUAL(collect_enter(COLLECT_CALLER, &collect_none, CHANNEL_P2P), COLLECT_PASS);
}

/* --- many threads --- */

static void *operate_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		operate(CHANNEL_P2P, 1, NULL);
	return NULL;
}

static void threads_run(int n, bool at_once)
{
	pthread_t threads[16];

	for (int i = 0; i < n; i++) {
		pthread_create(&threads[i], NULL, operate_often, NULL);
		if (!at_once)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; at_once && i < n; i++)
		pthread_join(threads[i], NULL);
}

static void a_thread_each(void)
{
	start(5);
	operate_often(NULL);
	threads_run(4, true);
	CU_ASSERT_EQUAL(segment_threads(collect.segment), 5);
	for (uint32_t i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(head_of(i, CHANNEL_P2P), 100);
		CU_ASSERT_EQUAL(events_of(i, CHANNEL_P2P), 100);
	}
	CU_ASSERT_EQUAL(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_THREADS, 0);
	collect_stop();
}

/* Programs that start threads again and again: ended threads' entries are taken by new ones. */
static void threads_after_each_other(void)
{
	start(3);
	threads_run(10, false);
	CU_ASSERT_EQUAL(segment_threads(collect.segment), 3);
	CU_ASSERT_EQUAL(head_of(1, CHANNEL_P2P) + head_of(2, CHANNEL_P2P), 1000);
	CU_ASSERT_EQUAL(overflowed(), 0);
	collect_stop();
}

static pthread_barrier_t all_here;

static void *operate_together(void *arg)
{
	operate(CHANNEL_P2P, 1, NULL);
	pthread_barrier_wait(&all_here);
	operate_often(arg);
	pthread_barrier_wait(&all_here);
	return NULL;
}

static void more_than_the_reserve(void)
{
	pthread_t threads[6];

	start(2);
	operate(CHANNEL_P2P, 1, NULL);
	pthread_barrier_init(&all_here, NULL, 6);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, operate_together, NULL);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&all_here);
	/* one of the six got the second entry */
	CU_ASSERT_EQUAL(head_of(1, CHANNEL_P2P), 101);
	CU_ASSERT_EQUAL(overflowed(), 5 * 101);
	CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_THREADS);
	collect_stop();
}

/* --- forks --- */

static void child_runs(void)
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0) {
		collect_abandon();
		operate(CHANNEL_P2P, 1, two_inside);
		_exit(collect.segment->header ? 1 : 0);
	}
	CU_ASSERT_TRUE(waitpid(pid, &status, 0) == pid);
	CU_ASSERT_EQUAL(status, 0);
}

static void child_leaves_it_alone(void)
{
	start(1);
	operate(CHANNEL_P2P, 1, NULL);
	child_runs();
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 1);
	/* a fork from within an operation: the child, too, comes to its end */
	operate(CHANNEL_P2P, 1, child_runs);
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 2);
	collect_stop();
}

/* The child comes back out of an operation that began before it was a process. */
static void fork_within(void)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0) {
		collect_abandon();
		return;
	}
	CU_ASSERT_TRUE(waitpid(pid, &status, 0) == pid);
	CU_ASSERT_EQUAL(status, 0);
}

static void child_ends_an_operation(void)
{
	pid_t parent = getpid();

	start(1);
	operate(CHANNEL_P2P, 1, fork_within);
	if (getpid() != parent) {
		operate(CHANNEL_P2P, 1, NULL);
		_exit(0);
	}
	CU_ASSERT_EQUAL(head_of(0, CHANNEL_P2P), 1);
	collect_stop();
}

static long resident_pages(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long total = 0, process_table = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(fscanf(f, "%ld %ld", &total, &process_table), 2);
	fclose(f);
	return process_table;
}

/* As a PVM task that enrols: with a table of writers that takes 200 kB. */
static void task_comes_and_goes(void)
{
	struct segment_plan plan = segments_plan();
	struct error e;

	segments_folder_empty(segments_dir);
	plan.split[CHANNEL_P2P] = SPLIT_OP;
	plan.capacity[CHANNEL_P2P] = 4;
	plan.elements = 2000;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
	for (uint16_t op = 1; op <= 100; op++)
		operate_on(&collect_none, op);
	collect_abandon();
}

static void who_leaves_takes_its_memory(void)
{
	long before;

	task_comes_and_goes();
	before = resident_pages();
	for (int i = 0; i < 20; i++)
		task_comes_and_goes();
	CU_ASSERT_TRUE((resident_pages() - before) * sysconf(_SC_PAGESIZE) < 1000000);
}

static atomic_bool over;

static void *operate_on_all(void *arg)
{
	while (!atomic_load(&over))
		for (uint16_t op = 1; op <= 100; op++)
			operate_on(&collect_none, op);
	return arg;
}

/* Another thread goes on while the process is one task after the other. */
static void who_leaves_disturbs_no_thread(void)
{
	pthread_t thread;

	atomic_store(&over, false);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, operate_on_all, NULL), 0);
	for (int i = 0; i < 50; i++)
		task_comes_and_goes();
	atomic_store(&over, true);
	pthread_join(thread, NULL);
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

static CU_TestInfo thread_cases[] = {
	{"each thread has elements of its own", a_thread_each},
	{"entries of ended threads are used again", threads_after_each_other},
	{"more threads than the reserve: counted as lost, with a note", more_than_the_reserve},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo fork_cases[] = {
	{"a forked child writes nothing", child_leaves_it_alone},
	{"a child forked within an operation ends it in vain", child_ends_an_operation},
	{"who lets go of its segment takes its memory along", who_leaves_takes_its_memory},
	{"... and disturbs no other thread", who_leaves_disturbs_no_thread},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{"path", segments_folder_make, segments_folder_remove, NULL, NULL, path_cases},
		{"threads", segments_folder_make, segments_folder_remove, NULL, NULL, thread_cases},
		{"fork", segments_folder_make, segments_folder_remove, NULL, NULL, fork_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
