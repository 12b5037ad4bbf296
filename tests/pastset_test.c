/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests elements of programs by their library alone, with processes that are killed, elements that
 * are full, and types that differ. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/pastset-bed.h"

/* A process that does @run with the element @name, and dies with this one. */
static pid_t start(void (*run)(const char *name), const char *name)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(name);
		_exit(0);
	}
	return pid;
}

static int end(pid_t pid, int number)
{
	int status = 0;

	if (number)
		kill(pid, number);
	waitpid(pid, &status, 0);
	return status;
}

/* Waits until @pid sleeps: in its element, as it does nowhere else. */
static void until_asleep(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (state != 'S' && state != 'Z') {
		FILE *stat = fopen(path, "re");

		sched_yield();
		if (!stat)
			return;
		if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		fclose(stat);
	}
}

/* ---- reading and writing ---- */

static void written_is_read(void)
{
	const struct evspace_element_plan plan = {
		.name = "steps", .fields = STEP, .bytes = sizeof(struct step), .capacity = 10};
	struct evspace_element *out = evspace_element_make(&plan, bed_why, sizeof(bed_why)), *in;
	struct step t = {.rank = 3, .phase = "solve"};
	struct evspace_element_tuple about;
	int64_t before = (int64_t)time(NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	in = bed_open("steps");
	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	CU_ASSERT_EQUAL(evspace_element_newest(in, &t, NULL), 0);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 0);
	for (t.iteration = 0; t.iteration < 5; t.iteration++)
		CU_ASSERT_EQUAL(evspace_element_write(out, &t), 0);
	memset(&t, 0, sizeof(t));
	CU_ASSERT_EQUAL(evspace_element_newest(in, &t, &about), 1);
	CU_ASSERT_TRUE(t.iteration == 4 && about.number == 4 && t.rank == 3);
	CU_ASSERT_STRING_EQUAL(t.phase, "solve");
	CU_ASSERT_TRUE(about.time_ns / 1000000000 >= before - 1 &&
		       about.time_ns / 1000000000 <= before + 60);
	CU_ASSERT_EQUAL(evspace_element_at(in, 2, &t, &about), 1);
	CU_ASSERT_TRUE(t.iteration == 2 && about.number == 2);
	CU_ASSERT_EQUAL(evspace_element_at(in, 5, &t, NULL), 0);
	for (uint64_t i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 1);
		CU_ASSERT_TRUE(t.iteration == i && about.number == i && about.lost == 0);
	}
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 0);
	errno = 0;
	CU_ASSERT_EQUAL(evspace_element_next(out, &t, NULL, 0), -1);
	CU_ASSERT_EQUAL(errno, EBADF);
	CU_ASSERT_EQUAL(evspace_element_write(in, &t), -1);
	CU_ASSERT_EQUAL(errno, EBADF);
	evspace_element_close(in);
	evspace_element_close(out);
}

/* What is not read in time is overwritten, and counted. */
static void full_discards(void)
{
	struct evspace_element *out = bed_make("full", 7, 0), *in = bed_open("full");
	struct evspace_element_state state;
	struct evspace_element_tuple about;
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	for (uint64_t n = 0; n < 3; n++)
		bed_put(out, n);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 1);
	for (uint64_t n = 3; n < 100; n++)
		CU_ASSERT_EQUAL(bed_put(out, n), 0);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 1);
	CU_ASSERT_TRUE(about.number == 93 && about.lost == 92 && bed_is_whole(&t, 93));
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 1);
	CU_ASSERT_TRUE(about.number == 94 && about.lost == 0);
	evspace_element_look(in, &state);
	CU_ASSERT_TRUE(state.written == 100 && state.oldest == 93 && state.capacity == 7);
	CU_ASSERT_TRUE(state.has_writer && state.readers == 0);
	evspace_element_close(out);
	evspace_element_look(in, &state);
	CU_ASSERT_FALSE(state.has_writer);
	/* who comes next goes on */
	out = bed_make("full", 1000, 5);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	bed_put(out, 100);
	CU_ASSERT_EQUAL(evspace_element_newest(in, &t, &about), 1);
	CU_ASSERT_TRUE(about.number == 100 && bed_is_whole(&t, 100));
	evspace_element_close(in);
	evspace_element_close(out);
}

static void types_differ(void)
{
	struct evspace_element *out = bed_make("typed", 10, 0);
	struct evspace_element_plan plan = {
		.name = "typed", .fields = STEP, .bytes = sizeof(struct step)};

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EPROTOTYPE);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed_why, "has the fields \"" LARGE "\", not \"" STEP "\""));
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EPROTOTYPE);
	plan.fields = NULL;
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EPROTOTYPE);
	plan = (struct evspace_element_plan){.name = "other", .fields = STEP, .bytes = 8};
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	plan = (struct evspace_element_plan){.name = "../x", .fields = STEP};
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	plan = (struct evspace_element_plan){.name = "none"};
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, ENOENT);
	plan = (struct evspace_element_plan){.name = "none", .run = "a/b"};
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	/* one writer */
	CU_ASSERT_PTR_NULL(bed_make("typed", 10, 0));
	CU_ASSERT_EQUAL(errno, EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed_why, "one writer at a time"));
	evspace_element_close(out);
	out = bed_make("typed", 10, 0);
	CU_ASSERT_PTR_NOT_NULL(out);
	evspace_element_close(out);
}

/* ---- waiting ---- */

static void put_after_a_while(const char *name)
{
	struct evspace_element *out = bed_make(name, 10, 0);

	until_asleep(getppid());
	for (uint64_t n = 0; n < 3; n++)
		bed_put(out, n);
}

/* Who reads may also be first: it makes the element, and sleeps. */
static void readers_are_woken(void)
{
	const struct evspace_element_plan plan = {
		.name = "woken", .fields = LARGE, .bytes = sizeof(struct large), .capacity = 10};
	struct evspace_element *in = evspace_element_open(&plan, bed_why, sizeof(bed_why));
	struct large t;
	pid_t pid;

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	pid = start(put_after_a_while, "woken");
	for (uint64_t n = 0; n < 3; n++) {
		CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 30000), 1);
		CU_ASSERT_TRUE(bed_is_whole(&t, n));
	}
	CU_ASSERT_EQUAL(end(pid, 0), 0);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 1), 0);
	evspace_element_close(in);
}

static void waits(const char *name)
{
	struct evspace_element *in = bed_open(name);
	struct large t;

	if (!in || evspace_element_next(in, &t, NULL, -1) != -1 || errno != ESTALE)
		_exit(1);
}

static void removed_elements_wake(void)
{
	struct evspace_element *out = bed_make("removed", 10, 0);
	char path[200];
	pid_t pid;

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	pid = start(waits, "removed");
	until_asleep(pid);
	bed_path("removed", path);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(end(pid, 0), 0);
	CU_ASSERT_EQUAL(bed_put(out, 0), 0);
	evspace_element_close(out);
}

static void full_waits(void)
{
	struct evspace_element *out = bed_make("slow", 4, 1), *in = bed_open("slow");
	struct evspace_element_state state;
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	/* nobody reads: nobody is waited for */
	for (uint64_t n = 0; n < 10; n++)
		CU_ASSERT_EQUAL(bed_put(out, n), 0);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
	CU_ASSERT_TRUE(bed_is_whole(&t, 6));
	evspace_element_look(in, &state);
	CU_ASSERT_EQUAL(state.readers, 1);
	CU_ASSERT_EQUAL(bed_put(out, 10), 0);
	CU_ASSERT_EQUAL(bed_put(out, 11), -1);
	CU_ASSERT_EQUAL(errno, ETIMEDOUT);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
	CU_ASSERT_EQUAL(bed_put(out, 11), 0);
	for (uint64_t n = 8; n < 12; n++) {
		CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
		CU_ASSERT_TRUE(bed_is_whole(&t, n));
	}
	for (uint64_t n = 12; n < 16; n++)
		CU_ASSERT_EQUAL(bed_put(out, n), 0);
	CU_ASSERT_EQUAL(bed_put(out, 16), -1);
	evspace_element_close(in);
	CU_ASSERT_EQUAL(bed_put(out, 16), 0);
	evspace_element_close(out);
}

enum { MANY = 30000 };

static void reads_all(const char *name)
{
	struct evspace_element *in = bed_open(name);
	struct evspace_element_tuple about;
	struct large t;

	for (uint64_t n = 0; n < MANY; n++)
		if (evspace_element_next(in, &t, &about, 60000) != 1 || about.number != n ||
		    about.lost || !bed_is_whole(&t, n))
			_exit(1);
}

static bool has_readers(struct evspace_element *e, unsigned n)
{
	struct evspace_element_state state;

	for (time_t end = time(NULL) + 10; time(NULL) < end; sched_yield()) {
		evspace_element_look(e, &state);
		if (state.readers == n)
			return true;
	}
	return false;
}

/* Nothing is lost for anybody, though the ring is small. */
static void waiting_loses_nothing(void)
{
	struct evspace_element *out = bed_make("exact", 3, -1);
	pid_t pids[3];

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (int i = 0; i < 3; i++)
		pids[i] = start(reads_all, "exact");
	CU_ASSERT_TRUE_FATAL(has_readers(out, 3));
	for (uint64_t n = 0; n < MANY; n++)
		if (bed_put(out, n) < 0)
			CU_FAIL("a write that waits for ever fails");
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(end(pids[i], 0), 0);
	evspace_element_close(out);
}

/* ---- the killed ---- */

static void reads_one(const char *name)
{
	struct evspace_element *in = bed_open(name);
	struct large t;

	evspace_element_next(in, &t, NULL, -1);
	for (;;)
		pause();
}

static void killed_readers_hold_nobody(void)
{
	struct evspace_element *out = bed_make("held", 2, -1);
	pid_t pids[2];

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	pids[0] = start(reads_one, "held");
	CU_ASSERT_TRUE_FATAL(has_readers(out, 1));
	/* killed while it sleeps */
	end(pids[0], SIGKILL);
	for (uint64_t n = 0; n < 10; n++)
		CU_ASSERT_EQUAL(bed_put(out, n), 0);
	/* killed while the writer waits for it */
	pids[0] = start(reads_one, "held");
	CU_ASSERT_TRUE_FATAL(has_readers(out, 1));
	pids[1] = fork();
	if (pids[1] == 0) {
		until_asleep(getppid());
		kill(pids[0], SIGKILL);
		_exit(0);
	}
	for (uint64_t n = 10; n < 20; n++)
		CU_ASSERT_EQUAL(bed_put(out, n), 0);
	end(pids[0], 0);
	end(pids[1], 0);
	CU_ASSERT_TRUE(has_readers(out, 0));
	evspace_element_close(out);
}

static void writes_for_ever(const char *name)
{
	struct evspace_element *out = bed_make(name, 50, 0);
	struct evspace_element_state state;

	if (!out)
		_exit(1);
	evspace_element_look(out, &state);
	for (uint64_t n = state.written;; n++)
		bed_put(out, n);
}

/* Whenever a writer is killed: all that can be read is whole, and another one goes on. */
static void killed_writers_tear_nothing(void)
{
	struct evspace_element *out = bed_make("torn", 50, 0), *in = bed_open("torn");
	uint64_t taken = 0, lost = 0, torn = 0, before = 0;
	struct evspace_element_tuple about;
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	evspace_element_close(out);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 0);
	for (int i = 0; i < 40; i++) {
		pid_t pid = start(writes_for_ever, "torn");

		/* at another moment of a write each time */
		while (bed_written("torn") <= before + (uint64_t)i * 37)
			sched_yield();
		end(pid, SIGKILL);
		before = bed_written("torn");
		while (evspace_element_next(in, &t, &about, 0) == 1) {
			torn += !bed_is_whole(&t, about.number);
			lost += about.lost;
			taken++;
		}
	}
	CU_ASSERT_EQUAL(torn, 0);
	CU_ASSERT_EQUAL(taken + lost, before);
	CU_ASSERT_TRUE(taken > 40);
	evspace_element_close(in);
}

/* A reader that is lapped all the time. */
static void lapped_readers_tear_nothing(void)
{
	struct evspace_element *in;
	struct evspace_element_tuple about;
	uint64_t torn = 0, next = 0;
	struct large t;
	pid_t pid = start(writes_for_ever, "lapped");

	while (bed_written("lapped") == 0)
		sched_yield();
	in = bed_open("lapped");
	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	for (int i = 0; i < 20000; i++) {
		if (evspace_element_next(in, &t, &about, 60000) != 1)
			CU_FAIL("no tuple of a writer that lives");
		torn += !bed_is_whole(&t, about.number) || about.number < next;
		next = about.number + 1;
		torn += evspace_element_newest(in, &t, &about) == 1 &&
			!bed_is_whole(&t, about.number);
	}
	CU_ASSERT_EQUAL(torn, 0);
	end(pid, SIGKILL);
	evspace_element_close(in);
}

static CU_TestInfo pastset_cases[] = {
	{"what is written is read, in three ways", written_is_read},
	{"a full element discards the oldest, and counts them", full_discards},
	{"types that differ, second writers and wrong names are refused", types_differ},
	{"a reader sleeps until something is written", readers_are_woken},
	{"an element that is removed wakes its readers", removed_elements_wake},
	{"a full element waits for its readers, for a time", full_waits},
	{"waiting loses nothing", waiting_loses_nothing},
	{"readers that are killed hold nobody up", killed_readers_hold_nobody},
	{"writers that are killed tear nothing", killed_writers_tear_nothing},
	{"readers that are lapped tear nothing", lapped_readers_tear_nothing},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "pastset", .pTests = pastset_cases},
		CU_SUITE_INFO_NULL,
	};

	return bed_run(suites);
}
