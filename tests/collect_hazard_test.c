/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what programs do to the collector: calls that do not come back, a file that is cut short.
 */
#include "node-agent/collect/core/collect.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "node-agent/segment/segment-read.h"
#include "tests/segments.h"
#include "tests/tap.h"
#include "tree/data/op-table.h"

/* This moment comes while the segment is set up, too: is its file cut short at the next one? */
static bool cut_at_once;

pid_t gettid(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/rank2.%d" SEGMENT_SUFFIX, segments_dir, (int)getpid());
	if (cut_at_once && truncate(path, SEGMENT_PAGE) == 0)
		cut_at_once = false;
	return (pid_t)syscall(SYS_gettid);
}

static void start(uint32_t threads)
{
	struct segment_plan plan = segments_plan();
	struct error e;

	segments_folder_empty(segments_dir);
	plan.threads = threads;
	CU_ASSERT_EQUAL_FATAL(collect_start(&plan, &e), 0);
	collect.alone = true;
}

/* One operation, as a wrapper makes it, that calls @inner while it lasts. */
static __attribute__((noinline)) void operate(unsigned channel, void (*inner)(void))
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct tuple t = {.op = OP_MPI_SEND, .peer = 1, .bytes = 1};
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

static void two_inside(void)
{
	operate(CHANNEL_P2P, NULL);
	operate(CHANNEL_COLLECTIVE, NULL);
}

static void operate_often(void)
{
	for (int i = 0; i < 100; i++)
		operate(CHANNEL_P2P, NULL);
}

static uint64_t events_of(unsigned channel)
{
	struct segment_sum sum = {.calls = 0};

	segment_channel_sum(collect.segment, 0, channel, &sum);
	return sum.calls;
}

static void is_in_no_state(uint32_t thread)
{
	struct tuple t;

	CU_ASSERT_EQUAL(segment_state(segment_thread(collect.segment, thread), &t), 0);
}

/* --- faults --- */

static volatile sig_atomic_t faults;
static sigjmp_buf after_fault;

static void on_fault(int number)
{
	(void)number;
	faults++;
	siglongjmp(after_fault, 1);
}

/* This comes before all other cases: from the first segment on, we are in front of its handler. */
static void faults_of_the_program(void)
{
	const struct sigaction action = {.sa_handler = on_fault};
	char path[] = "/tmp/evspace-fault.XXXXXX";
	int fd = mkstemp(path);
	volatile char *at;

	sigaction(SIGBUS, &action, NULL);
	start(1);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	at = mmap(NULL, SEGMENT_PAGE, PROT_WRITE, MAP_SHARED, fd, 0);
	CU_ASSERT_TRUE_FATAL(at != MAP_FAILED);
	if (!sigsetjmp(after_fault, 1))
		*at = 1;
	CU_ASSERT_EQUAL(faults, 1);
	if (!sigsetjmp(after_fault, 1))
		kill(getpid(), SIGBUS);
	CU_ASSERT_EQUAL(faults, 2);
	munmap((void *)at, SEGMENT_PAGE);
	close(fd);
	unlink(path);
	collect_stop();
}

static void cut_short(void)
{
	CU_ASSERT_EQUAL_FATAL(truncate(collect.segment->path, SEGMENT_PAGE), 0);
}

static void *cut_and_go_on(void *arg)
{
	/* in the midst of an operation, too */
	operate(CHANNEL_P2P, arg ? cut_short : NULL);
	operate_often();
	return NULL;
}

static void file_is_cut_short(void)
{
	char word[sizeof(collect.segment->path) + 16];
	pthread_t threads[4];

	start(5);
	operate_often();
	snprintf(word, sizeof(word), "%.*s.refused-cut-off",
		 (int)strlen(collect.segment->path) - (int)strlen(SEGMENT_SUFFIX),
		 collect.segment->path);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, cut_and_go_on, i == 2 ? word : NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	operate_often();
	CU_ASSERT_EQUAL(access(word, F_OK), 0);
	/* nothing is collected any more */
	CU_ASSERT_EQUAL(collect_enter(COLLECT_CALLER, &collect_none, CHANNEL_P2P), COLLECT_PASS);
	CU_ASSERT_EQUAL(faults, 2);
	collect_stop();
}

static void file_is_cut_at_once(void)
{
	cut_at_once = true;
	start(1);
	CU_ASSERT_FALSE(cut_at_once);
	operate_often();
	CU_ASSERT_EQUAL(collect_enter(COLLECT_CALLER, &collect_none, CHANNEL_P2P), COLLECT_PASS);
	CU_ASSERT_EQUAL(faults, 2);
	collect_stop();
}

/* The thread's entry is there, as an ended one has left it, but what is in it went meanwhile. */
static void find_again(uint64_t ring_at, uint32_t capacity)
{
	struct segment_element *element;
	uint64_t lost;

	start(1);
	operate(CHANNEL_P2P, NULL);
	element = segment_overflow(collect.segment) + 1;
	CU_ASSERT_EQUAL_FATAL(element->channel, CHANNEL_P2P);
	element->ring_at = ring_at;
	element->capacity = capacity;
	collect_self.writers[CHANNEL_P2P] = (struct element_writer){.ring = NULL};
	operate(CHANNEL_P2P, NULL);
	lost = element_head(segment_ring(collect.segment, segment_overflow(collect.segment)));
	CU_ASSERT_EQUAL(lost, 1);
	collect_stop();
}

static void elements_are_gone(void)
{
	find_again(0, 200);
	find_again(SEGMENT_PAGE, 0);
	find_again(0, 0);
}

/* --- what does not come back --- */

static jmp_buf back;

static void jump(void)
{
	longjmp(back, 1);
}

static uint64_t left(void)
{
	return atomic_load(&collect.segment->header->left);
}

static uint64_t inside(void)
{
	return atomic_load(&collect.segment->header->inside);
}

static __attribute__((noinline)) void leave_below(enum segment_mode mode)
{
	struct segment_control *control = segment_control_map(collect.segment);

	CU_ASSERT_PTR_NOT_NULL_FATAL(control);
	segment_class_switch(control, collect.segment, CHANNEL_P2P, NULL, mode);
	segment_class_quiet(control, collect.segment);
	segment_control_unmap(control);
	if (!setjmp(back))
		operate(CHANNEL_P2P, jump);
}

static void left_in_every_mode(void)
{
	for (enum segment_mode mode = MODE_TRACE; mode < MODE_COUNT_OF; mode++) {
		if (mode == MODE_OFF)
			continue;
		start(1);
		leave_below(mode);
		operate(CHANNEL_COLLECTIVE, two_inside);
		CU_ASSERT_EQUAL(events_of(CHANNEL_COLLECTIVE), 1);
		CU_ASSERT_EQUAL(left(), 1);
		CU_ASSERT_EQUAL(inside(), 2);
		is_in_no_state(0);
		CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_LEFT);
		CU_ASSERT_TRUE(atomic_load(&collect.segment->header->note) & SEGMENT_NOTE_INSIDE);
		collect_stop();
	}
}

static void *exit_within(void *arg)
{
	(void)arg;
	operate(CHANNEL_P2P, (void (*)(void))pthread_exit);
	return NULL;
}

/* A thread that ends within an operation is in none. */
static void left_by_the_thread(void)
{
	pthread_t thread;

	start(2);
	pthread_create(&thread, NULL, exit_within, NULL);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(left(), 1);
	is_in_no_state(1);
	collect_stop();
}

/* Two stacks in one thread: none of the two operations is torn, whichever is taken for left. */
static ucontext_t here, there;

static void back_here(void)
{
	/* cppcheck-suppress swapcontextCalled */
	swapcontext(&there, &here);
}

static void on_the_other_stack(void)
{
	operate(CHANNEL_P2P, back_here);
}

static void go_there(void)
{
	/* cppcheck-suppress swapcontextCalled */
	swapcontext(&here, &there);
}

static void stacks_take_turns(void)
{
	static char stack[65536];

	start(1);
	for (int i = 0; i < 300; i++) {
		/* cppcheck-suppress getcontextCalled */
		getcontext(&there);
		there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof(stack)};
		there.uc_link = &here;
		/* cppcheck-suppress makecontextCalled */
		makecontext(&there, on_the_other_stack, 0);
		/* in there while nothing lasts here; out there while something does */
		go_there();
		operate(CHANNEL_P2P, go_there);
		operate(CHANNEL_COLLECTIVE, NULL);
	}
	CU_ASSERT_EQUAL(events_of(CHANNEL_COLLECTIVE), 300);
	CU_ASSERT_EQUAL(events_of(CHANNEL_P2P) + left(), 600);
	is_in_no_state(0);
	collect_stop();
}

/* --- stacks that are gone --- */

#define STACK 65536

static void (*on_stack)(void);

static void signalled(int number)
{
	(void)number;
	on_stack();
}

/* Call @what on the stack at @at, or until it jumps back. */
static void stack_run(char *at, void (*what)(void))
{
	const struct sigaction action = {.sa_handler = signalled,
					 .sa_flags = SA_ONSTACK | SA_NODEFER};
	const stack_t stack = {.ss_sp = at, .ss_size = STACK}, none = {.ss_flags = SS_DISABLE};

	on_stack = what;
	sigaction(SIGUSR1, &action, NULL);
	sigaltstack(&stack, NULL);
	if (!setjmp(back))
		raise(SIGUSR1);
	sigaltstack(&none, NULL);
}

static void operate_and_jump(void)
{
	operate(CHANNEL_P2P, jump);
}

/* What was left on a stack that is unmapped is asked for from one that lies below it. */
static void stack_is_gone(void)
{
	char *stacks;

	start(1);
	/* cppcheck-suppress [invalidFunctionArg] */
	stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_TRUE_FATAL(stacks != MAP_FAILED);
	stack_run(stacks + STACK, operate_and_jump);
	munmap(stacks + STACK, STACK);
	errno = ERANGE;
	stack_run(stacks, two_inside);
	CU_ASSERT_EQUAL(errno, ERANGE);
	CU_ASSERT_EQUAL(left(), 1);
	CU_ASSERT_EQUAL(events_of(CHANNEL_P2P), 1);
	CU_ASSERT_EQUAL(events_of(CHANNEL_COLLECTIVE), 1);
	is_in_no_state(0);
	munmap(stacks, STACK);
	collect_stop();
}

/* Within an operation, from another page of a thread's own stack: it is not taken for left. */
static __attribute__((noinline)) void deep(void)
{
	volatile char room[3 * COLLECT_STACK_PAGE];

	room[0] = room[sizeof(room) - 1] = 0;
	operate(CHANNEL_COLLECTIVE, NULL);
	room[1] = room[0];
}

static void *operate_deep(void *arg)
{
	operate(CHANNEL_P2P, deep);
	return arg;
}

static void pages_apart(void)
{
	pthread_t thread;

	start(2);
	operate_deep(NULL);
	pthread_create(&thread, NULL, operate_deep, NULL);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(left(), 0);
	CU_ASSERT_EQUAL(inside(), 2);
	CU_ASSERT_EQUAL(events_of(CHANNEL_COLLECTIVE), 0);
	CU_ASSERT_EQUAL(events_of(CHANNEL_P2P), 1);
	collect_stop();
}

static CU_TestInfo fault_cases[] = {
	{"faults and signals of the program are its own", faults_of_the_program},
	{"the segment's file is cut short under several threads", file_is_cut_short},
	{"the segment's file is cut short before anything is in it", file_is_cut_at_once},
	{"elements that are gone have no room", elements_are_gone},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo left_cases[] = {
	{"left by longjmp, in every mode: counted, and nobody is stuck", left_in_every_mode},
	{"left by the thread's end", left_by_the_thread},
	{"two stacks in one thread", stacks_take_turns},
	{"left on a stack that is unmapped since", stack_is_gone},
	{"not left, and pages apart", pages_apart},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{"faults", segments_folder_make, segments_folder_remove, NULL, NULL, fault_cases},
		{"left", segments_folder_make, segments_folder_remove, NULL, NULL, left_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
