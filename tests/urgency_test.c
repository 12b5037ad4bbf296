/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests urgency: when an agent is lifted above what is asked of it, and why one says nothing. */
#include "tests/tap.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree/data/schedule.h"
#include "tree/data/urgency.h"
#include "tree/scope/silence.h"
#include "tree/scope/urgent.h"

#define S  UINT64_C(1000000000)
#define MS UINT64_C(1000000)

/* At @now_s an ask of idle comes, the agent waited so long, and could tolerate 100 ms. */
static enum urgency at(struct urgency_lift *lift, double now_s, unsigned waited_ms)
{
	const struct urgency_seen seen = {.asked = URGENCY_IDLE,
					  .ceiling = URGENCY_NORMAL,
					  .waited_ns = waited_ms * MS,
					  .patience_ns = 100 * MS,
					  .now_ns = (uint64_t)(now_s * 1e9)};

	return urgency_decide(lift, &seen);
}

static void as_asked_while_it_is_soon_enough(void)
{
	struct urgency_lift lift = {0};

	CU_ASSERT(at(&lift, 1, 0) == URGENCY_IDLE);
	CU_ASSERT(at(&lift, 2, 100) == URGENCY_IDLE);
	CU_ASSERT(at(&lift, 3, 101) == URGENCY_BATCH);
	CU_ASSERT(at(&lift, 3.5, 1) == URGENCY_BATCH);
	CU_ASSERT(at(&lift, 4, 1) == URGENCY_IDLE);
}

/* The meek class is tried again after 1, 2, 4 s, ..., 64 s; from the beginning if it did well for
 * long. */
static void tries_are_fewer_and_fewer(void)
{
	struct urgency_lift lift = {0};
	double now = 1;

	for (unsigned hold = 1, i = 0; i < 9; i++) {
		CU_ASSERT(at(&lift, now, 500) == URGENCY_BATCH);
		CU_ASSERT(at(&lift, now + hold - 0.01, 0) == URGENCY_BATCH);
		now += hold;
		CU_ASSERT(at(&lift, now, 0) == URGENCY_IDLE);
		hold = hold < 64 ? 2 * hold : 64;
	}
	now += 65;
	CU_ASSERT(at(&lift, now, 500) == URGENCY_BATCH);
	CU_ASSERT(at(&lift, now + 1, 0) == URGENCY_IDLE);
}

static void one_class_at_a_time_up_to_the_ceiling(void)
{
	struct urgency_lift lift = {0};
	struct urgency_seen seen = {
		.asked = URGENCY_IDLE, .ceiling = URGENCY_NORMAL, .waited_ns = 2, .now_ns = S};

	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_BATCH);
	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_NORMAL);
	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_NORMAL);
	seen.ceiling = URGENCY_BATCH;
	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_BATCH);
	seen.ceiling = URGENCY_IDLE;
	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_IDLE);
	/* and down the same way, each after its time */
	seen = (struct urgency_seen){
		.asked = URGENCY_IDLE, .ceiling = URGENCY_NORMAL, .now_ns = 100 * S};
	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_BATCH);
	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_BATCH);
	seen.now_ns += 3 * S;
	CU_ASSERT(urgency_decide(&lift, &seen) == URGENCY_IDLE);
}

static void words_and_numbers(void)
{
	enum urgency urgency = URGENCY_UNSAID;
	struct error e;

	for (int i = URGENCY_IDLE; i <= URGENCY_NORMAL; i++) {
		CU_ASSERT(urgency_parse(urgency_word((enum urgency)i), &urgency, &e) == 0);
		CU_ASSERT((int)urgency == i && urgency_asked((uint32_t)i) == urgency);
	}
	CU_ASSERT(urgency_parse("nice", &urgency, &e) < 0 && strstr(e.text, "idle, batch"));
	CU_ASSERT(urgency_parse("", &urgency, &e) < 0);
	CU_ASSERT(urgency_asked(0) == URGENCY_DEFAULT && urgency_asked(99) == URGENCY_DEFAULT);
}

static void silence_by_signs(void)
{
	static const struct {
		struct silence_signs signs;
		enum silence silence;
		bool late;
	} cases[] = {
		{{false, 'R', true}, SILENCE_CUT, false},
		{{false, '?', true}, SILENCE_CUT, false},
		{{true, 'T', true}, SILENCE_STOPPED, false},
		{{true, 't', false}, SILENCE_STOPPED, false},
		{{true, 'R', false}, SILENCE_STARVED, true},
		{{true, '?', true}, SILENCE_MEEK, true},
		{{true, '?', false}, SILENCE_HUNG, false},
		{{true, 'D', true}, SILENCE_HUNG, false},
		{{true, 'S', false}, SILENCE_HUNG, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT(silence_judge(&cases[i].signs) == cases[i].silence);
		CU_ASSERT(silence_is_late(cases[i].silence) == cases[i].late);
		CU_ASSERT(strlen(silence_words(cases[i].silence)) > 10);
	}
}

static void the_kernel_says_what_a_process_does(void)
{
	struct schedule_process child;
	int pipes[2], status;
	uint64_t waited = UINT64_MAX;
	int fd = schedule_waited_open();
	pid_t pid;

	CU_ASSERT(fd < 0 || (schedule_waited(fd, &waited) == 0 && waited < UINT64_MAX));
	close(fd);
	CU_ASSERT_FATAL(pipe(pipes) == 0);
	pid = fork();
	if (pid == 0) {
		child = schedule_self();
		if (write(pipes[1], &child, sizeof(child)) == sizeof(child))
			raise(SIGSTOP);
		_exit(0);
	}
	CU_ASSERT(read(pipes[0], &child, sizeof(child)) == sizeof(child) && child.pid == pid);
	waitpid(pid, &status, WUNTRACED);
	CU_ASSERT(schedule_state(&child) == 'T');
	child.started++;
	CU_ASSERT(schedule_state(&child) == '?');
	child.started--;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CU_ASSERT(schedule_state(&child) == '?');
	child.pid = 0;
	CU_ASSERT(schedule_state(&child) == '?');
	close(pipes[0]);
	close(pipes[1]);
}

/* Share a core with another process until this one has waited so long for it. */
static void wait_for_core(int fd, uint64_t ns)
{
	uint64_t before = 0, waited = 0;
	cpu_set_t all, one;
	pid_t pid;

	CU_ASSERT_FATAL(schedule_waited(fd, &before) == 0);
	CU_ASSERT_FATAL(sched_getaffinity(0, sizeof(all), &all) == 0);
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	CU_ASSERT_FATAL(sched_setaffinity(0, sizeof(one), &one) == 0);
	pid = fork();
	while (pid == 0)
		;
	while (waited < before + ns)
		CU_ASSERT_FATAL(schedule_waited(fd, &waited) == 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CU_ASSERT_FATAL(sched_setaffinity(0, sizeof(all), &all) == 0);
}

static void waiting_counts_from_the_first_ask(void)
{
	const struct urgent_wish wanted = {.urgency = URGENCY_NORMAL, .deadline_ms = 1000};
	struct urgent_wish first = {.open = false}, second = {.open = false};
	struct urgent *urgent = urgent_new();
	int fd = schedule_waited_open();

	if (fd >= 0) {
		wait_for_core(fd, 50 * MS);
		urgent_ask(urgent, &first, &wanted);
		CU_ASSERT_EQUAL(urgent_waited_us(urgent), 0);
		wait_for_core(fd, 50 * MS);
		urgent_ask(urgent, &first, &wanted);
		urgent_ask(urgent, &second, &wanted);
		CU_ASSERT(urgent_waited_us(urgent) >= 50000);
		CU_ASSERT_EQUAL(urgent_waited_us(urgent), 0);
		close(fd);
	}
	urgent_leave(urgent, &first);
	urgent_leave(urgent, &second);
	urgent_free(urgent);
}

/* As a process finds that tries it on itself. */
static void who_can_leave_idle(void)
{
	const struct sched_param none = {.sched_priority = 0};
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(sched_setscheduler(0, SCHED_IDLE, &none) < 0 ||
				      sched_setscheduler(0, SCHED_BATCH, &none) < 0
			      ? 1
			      : 0);
	CU_ASSERT_FATAL(pid > 0 && waitpid(pid, &status, 0) == pid);
	CU_ASSERT(schedule_returns() == (status == 0));
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{"as asked while that is soon enough", as_asked_while_it_is_soon_enough},
		{"a class that was too meek is tried less and less", tries_are_fewer_and_fewer},
		{"one class at a time", one_class_at_a_time_up_to_the_ceiling},
		{"words", words_and_numbers},
		{"why one says nothing", silence_by_signs},
		{"what the kernel says of a process", the_kernel_says_what_a_process_does},
		{"waiting counts from the first ask", waiting_counts_from_the_first_ask},
		{"who can leave the class idle again", who_can_leave_idle},
		CU_TEST_INFO_NULL,
	};
	static const CU_SuiteInfo suites[] = {
		{"urgency", NULL, NULL, NULL, NULL, tests},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
