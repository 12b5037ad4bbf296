/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what agents read of running processes: stacks, of which no signal is lost, no name is that
 * of another frame, and which no thread waits for; and counters. */
#include "tests/tap.h"

#include <event2/event.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node-agent/control/hardware.h"
#include "node-agent/control/stacks.h"
#include "node-agent/source/stack.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

#define SIGNALS 20000
#define EXACT	7

static volatile sig_atomic_t came;

static void on_signal(int signal)
{
	(void)signal;
	came = came + 1;
}

/* Real-time signals are queued, one for each that is sent. */
static _Noreturn void sender(int told)
{
	const struct sigaction action = {.sa_handler = on_signal};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGRTMIN, &action, NULL);
	for (int i = 0; i < SIGNALS; i++)
		raise(SIGRTMIN);
	if (write(told, "", 1) != 1)
		_exit(1);
	_exit(came == SIGNALS ? EXACT : 1);
}

static bool still_sends(int told)
{
	char byte;

	return read(told, &byte, 1) < 0;
}

static void count_threads(void *arg, const struct stack_thread *thread)
{
	unsigned *walked = arg;

	*walked += thread->n > 0;
}

/* As an agent does: in a process of its own. Returns how many stacks it has read, or -1. */
static int stacks_of(pid_t pid)
{
	const struct stack_limits limits = {.depth = 4, .threads_ns = UINT64_MAX};
	pid_t reader = fork();
	int status;

	if (reader == 0) {
		unsigned walked = 0;
		struct error e;

		_exit(stack_read(pid, &limits, count_threads, &walked, &e) < 0 ? EXACT
									       : (int)walked);
	}
	if (reader < 0 || waitpid(reader, &status, 0) != reader || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status) == EXACT ? -1 : WEXITSTATUS(status);
}

static void signals_are_kept(void)
{
	int told[2], status, n, walked = 0;
	pid_t pid;

	CU_ASSERT_FATAL(pipe2(told, O_CLOEXEC | O_NONBLOCK) == 0);
	pid = fork();
	if (pid == 0)
		sender(told[1]);
	CU_ASSERT_FATAL(pid > 0);
	while (still_sends(told[0]) && (n = stacks_of(pid)) >= 0)
		walked += n;
	CU_ASSERT(waitpid(pid, &status, 0) == pid);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == EXACT);
	CU_ASSERT(walked > 0);
	tap_note("%d stacks read", walked);
	close(told[0]);
	close(told[1]);
}

/* ---- names ---- */

/* Calls in functions of one size are 4096 bytes apart, or a multiple. */
#define APART __attribute__((noinline, aligned(4096))) static void
typedef void place(unsigned);
static place *const places[];

#define PLACE(name, n)                         \
	APART name(unsigned depth)             \
	{                                      \
		places[depth](depth + 1);      \
		__asm__ volatile("" ::"i"(n)); \
	}

PLACE(outer, 1)
PLACE(middle, 2)
PLACE(inner, 3)

static int told_there;

static __attribute__((noinline)) void rest(unsigned depth)
{
	while (depth > 0)
		if (write(told_there, "", 1) == 1)
			pause();
}

static place *const places[] = {outer, middle, inner, rest};

/* Which of them are there, from the innermost on. */
static void note_places(void *arg, const struct stack_thread *thread)
{
	FILE *text = arg;

	for (size_t i = 0; i < thread->n; i++)
		for (size_t k = 0; k < 4; k++) {
			static const char *const names[] = {"outer", "middle", "inner", "rest"};
			const char *name = thread->frames[i].name;

			if (name && strcmp(name, names[k]) == 0)
				fprintf(text, " %s", name);
		}
}

static void names_are_their_own(void)
{
	const struct stack_limits limits = {
		.depth = 16, .threads_ns = UINT64_MAX, .names_ns = UINT64_MAX};
	char text[512] = "", byte;
	FILE *out = fmemopen(text, sizeof(text), "w");
	int told[2];
	struct error e;
	pid_t pid;

	CU_ASSERT_FATAL(out && pipe2(told, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		told_there = told[1];
		places[0](1);
	}
	CU_ASSERT_FATAL(pid > 0 && read(told[0], &byte, 1) == 1);
	CU_ASSERT(stack_read(pid, &limits, note_places, out, &e) == 0);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, " rest inner middle outer");
	kill(pid, SIGKILL);
	CU_ASSERT(waitpid(pid, NULL, 0) == pid);
	close(told[0]);
	close(told[1]);
}

/* ---- threads that stop late ---- */

/* It cannot be stopped before its child ends. */
static _Noreturn void forker(const int until[2])
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(until[1]);
	if (vfork() == 0)
		_exit((int)read(until[0], &byte, 1));
	for (;;)
		pause();
}

/* Wait until the kernel says that it is in that state, for a minute. */
static void state_wait(pid_t pid, char state)
{
	uint64_t until = clock_mono_ns() + 60000000000;
	char path[32], is = '\0';

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (is != state) {
		FILE *f = fopen(path, "re");

		if (!f || fscanf(f, "%*d %*s %c", &is) != 1 || clock_mono_ns() > until)
			_exit(EXIT_FAILURE);
		fclose(f);
		sched_yield();
	}
}

/* It has stopped when nobody waits for that any more. */
static _Noreturn void late_reader(pid_t pid, int end)
{
	const struct stack_limits limits = {.depth = 4, .threads_ns = UINT64_MAX};
	unsigned before = 0, behind = 0;
	struct error e;

	state_wait(pid, 'D');
	if (stack_read(pid, &limits, count_threads, &before, &e) < 0)
		_exit(EXIT_FAILURE);
	close(end);
	state_wait(pid, 't');
	if (stack_read(pid, &limits, count_threads, &behind, &e) < 0)
		_exit(EXIT_FAILURE);
	_exit(before == 0 && behind == 1 ? EXACT : EXIT_FAILURE);
}

static void late_ones_go_on(void)
{
	int until[2], status;
	pid_t pid, reader;

	CU_ASSERT_FATAL(pipe2(until, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0)
		forker(until);
	reader = fork();
	if (reader == 0)
		late_reader(pid, until[1]);
	CU_ASSERT_FATAL(pid > 0 && reader > 0);
	close(until[1]);
	CU_ASSERT(waitpid(reader, &status, 0) == reader);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == EXACT);
	kill(pid, SIGKILL);
	CU_ASSERT(waitpid(pid, NULL, 0) == pid);
	close(until[0]);
}

/* ---- rest ---- */

static void on_ready(void *arg)
{
	event_base_loopbreak(arg);
}

/* Who gives up, or is killed, has not said for how long it has stopped threads. */
static void threads_rest(void)
{
	struct event_base *base = event_base_new();
	struct store store = {.next_serial = 1};
	const struct source_host here = {.store = &store, .node = "n"};
	uint64_t begun = clock_mono_ns();
	struct stacks *k;

	TAILQ_INIT(&store.segments);
	stacks_free(stacks_new(base, &here, "run", 4, 60, on_ready, base));
	k = stacks_new(base, &here, "run", 4, 60000, on_ready, base);
	CU_ASSERT(stacks_wait(k));
	while (stacks_wait(k))
		event_base_dispatch(base);
	CU_ASSERT(clock_mono_ns() - begun >= 250000000);
	stacks_free(k);
	event_base_free(base);
}

/* Those who ask meanwhile wait, also for another run: all are answered. */
static void all_have_their_turn(void)
{
	static const char *const runs[] = {"run", "run", "other", "run", "other", "run"};
	struct event_base *base = event_base_new();
	struct store store = {.next_serial = 1};
	const struct source_host here = {.store = &store, .node = "n"};
	struct stacks *k[6];
	Evspace__Process p = EVSPACE__PROCESS__INIT, *one = &p;

	TAILQ_INIT(&store.segments);
	p.alive = true;
	for (size_t i = 0; i < 6; i++) {
		k[i] = stacks_new(base, &here, runs[i], 4, 60000, on_ready, base);
		CU_ASSERT(stacks_wait(k[i]));
	}
	/* one that goes holds up nobody */
	stacks_free(k[1]);
	for (size_t i = 0; i < 6; i++) {
		while (i != 1 && stacks_wait(k[i]))
			event_base_dispatch(base);
		if (i == 1)
			continue;
		stacks_give(k[i], &one, 1);
		CU_ASSERT_STRING_EQUAL(p.unread, "its host has not read it in time");
		free(p.unread);
		stacks_free(k[i]);
	}
	event_base_free(base);
}

/* ---- counters ---- */

static const char *counter_why(const struct process_tables *t, size_t i)
{
	CU_ASSERT_FATAL(t->processes[0]->n_counters == i + 1);
	return t->processes[0]->counters[i]->why;
}

/* Those of others are not counted; what could not be is tried again when it is asked for. */
static void counters_are_tried_again(void)
{
	struct event_base *base = event_base_new();
	struct hardware *all = hardware_new(base);
	struct process_tables t = {.processes = memory_new(1, sizeof(*t.processes)), .n = 1};
	Evspace__Process *p = t.processes[0] = memory_new(1, sizeof(*p));
	struct rlimit files, none;

	evspace__process__init(p);
	p->pid = (uint32_t)getpid();
	p->run = memory_copy("run");
	p->name = memory_copy("rank0");
	p->alive = p->misplaced = true;
	hardware_fill(all, &t, 1u << HARDWARE_MIGRATIONS);
	CU_ASSERT(p->n_counters == 0);
	p->misplaced = false;
	CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &files) == 0);
	none = files;
	none.rlim_cur = 3;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &none) == 0);
	hardware_fill(all, &t, 1u << HARDWARE_MIGRATIONS);
	setrlimit(RLIMIT_NOFILE, &files);
	CU_ASSERT(strstr(counter_why(&t, 0), "counters already") != NULL);
	hardware_fill(all, &t, 1u << HARDWARE_MIGRATIONS);
	CU_ASSERT(strstr(counter_why(&t, 1), "counters already") == NULL);
	hardware_free(all);
	process_tables_fini(&t);
	event_base_free(base);
}

static CU_TestInfo cases[] = {
	{"no frame has the name of another one", names_are_their_own},
	{"a thread that stops late goes on", late_ones_go_on},
	{"threads rest when nobody has said how long they were stopped", threads_rest},
	{"all who ask for stacks at once have their turn", all_have_their_turn},
	{"counters are tried again, and are not of others' processes", counters_are_tried_again},
	{"a signal that is about to be delivered when a thread is stopped is delivered",
	 signals_are_kept},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "stack", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
