/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that no signal of a program is lost while its stacks are read. */
#include "tests/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "node-agent/source/stack.h"

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

static CU_TestInfo cases[] = {
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
