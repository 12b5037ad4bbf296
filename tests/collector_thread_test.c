/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the collector's path without MPI: many threads, forks, tasks that come and go. */
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

static void *operate_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < 100; i++)
		collector_bed_operate(CHANNEL_P2P, 1, NULL);
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
	collector_bed_start(5);
	operate_often(NULL);
	threads_run(4, true);
	CU_ASSERT_EQUAL(segment_threads(collect.segment), 5);
	for (uint32_t i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(collector_bed_head(i, CHANNEL_P2P), 100);
		CU_ASSERT_EQUAL(collector_bed_events(i, CHANNEL_P2P), 100);
	}
	CU_ASSERT_EQUAL(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_THREADS, 0);
	collect_stop();
}

/* Programs that start threads again and again: ended threads' entries are taken by new ones. */
static void threads_after_each_other(void)
{
	collector_bed_start(3);
	threads_run(10, false);
	CU_ASSERT_EQUAL(segment_threads(collect.segment), 3);
	CU_ASSERT_EQUAL(collector_bed_head(1, CHANNEL_P2P) + collector_bed_head(2, CHANNEL_P2P),
			1000);
	CU_ASSERT_EQUAL(collector_bed_overflowed(), 0);
	collect_stop();
}

static pthread_barrier_t all_here;

static void *operate_together(void *arg)
{
	collector_bed_operate(CHANNEL_P2P, 1, NULL);
	pthread_barrier_wait(&all_here);
	operate_often(arg);
	pthread_barrier_wait(&all_here);
	return NULL;
}

static void more_than_the_reserve(void)
{
	pthread_t threads[6];

	collector_bed_start(2);
	collector_bed_operate(CHANNEL_P2P, 1, NULL);
	pthread_barrier_init(&all_here, NULL, 6);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, operate_together, NULL);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&all_here);
	/* one of the six got the second entry */
	CU_ASSERT_EQUAL(collector_bed_head(1, CHANNEL_P2P), 101);
	CU_ASSERT_EQUAL(collector_bed_overflowed(), 5 * 101);
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
		collector_bed_operate(CHANNEL_P2P, 1, collector_bed_operate_twice);
		_exit(collect.segment->header ? 1 : 0);
	}
	CU_ASSERT_TRUE(waitpid(pid, &status, 0) == pid);
	CU_ASSERT_EQUAL(status, 0);
}

static void child_leaves_it_alone(void)
{
	collector_bed_start(1);
	collector_bed_operate(CHANNEL_P2P, 1, NULL);
	child_runs();
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 1);
	/* a fork from within an operation: the child, too, comes to its end */
	collector_bed_operate(CHANNEL_P2P, 1, child_runs);
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 2);
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

	collector_bed_start(1);
	collector_bed_operate(CHANNEL_P2P, 1, fork_within);
	if (getpid() != parent) {
		collector_bed_operate(CHANNEL_P2P, 1, NULL);
		_exit(0);
	}
	CU_ASSERT_EQUAL(collector_bed_head(0, CHANNEL_P2P), 1);
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
		collector_bed_operate_on(&collect_none, op);
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
			collector_bed_operate_on(&collect_none, op);
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
		{"threads", segments_folder_make, segments_folder_remove, NULL, NULL, thread_cases},
		{"fork", segments_folder_make, segments_folder_remove, NULL, NULL, fork_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
