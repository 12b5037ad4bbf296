/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests elements of programs by their library alone, with processes that are killed, elements that
 * are full, types that differ, and files that lie. */
#include "node-agent/pastset/evspace-element.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "node-agent/pastset/pastset-layout.h"
#include "tests/tap.h"

/* All that a tuple may have; each word follows from the number. */
struct large {
	uint64_t word[FIELDS_BYTES / 8];
};

#define LARGE "word u64[32]"

struct step {
	uint64_t iteration;
	double residual;
	int32_t rank;
	char phase[9];
};

#define STEP "iteration u64, residual f64, rank i32, phase text[9]"

static char base[64], why[300];

/* ---- helpers ---- */

static struct evspace_element *make(const char *name, uint32_t capacity, int wait_ms)
{
	const struct evspace_element_plan plan = {.name = name,
						  .fields = LARGE,
						  .bytes = sizeof(struct large),
						  .capacity = capacity,
						  .wait_ms = wait_ms};
	struct evspace_element *e = evspace_element_make(&plan, why, sizeof(why));

	if (!e)
		tap_note("%s", why);
	return e;
}

static struct evspace_element *look(const char *name)
{
	const struct evspace_element_plan plan = {.name = name};

	return evspace_element_open(&plan, why, sizeof(why));
}

static int put(struct evspace_element *e, uint64_t n)
{
	struct large t;

	for (size_t i = 0; i < FIELDS_BYTES / 8; i++)
		t.word[i] = n * (i + 1);
	return evspace_element_write(e, &t);
}

static bool is_whole(const struct large *t, uint64_t n)
{
	for (size_t i = 0; i < FIELDS_BYTES / 8; i++)
		if (t->word[i] != n * (i + 1))
			return false;
	return true;
}

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

static void nap_us(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

static void path_of(const char *name, char *path, size_t n)
{
	snprintf(path, n, "%s/run/%s.elem", base, name);
}

static uint64_t written(const char *name)
{
	struct evspace_element_state state = {.written = 0};
	struct evspace_element *e = look(name);

	if (e)
		evspace_element_look(e, &state);
	evspace_element_close(e);
	return state.written;
}

/* ---- reading and writing ---- */

static void written_is_read(void)
{
	const struct evspace_element_plan plan = {
		.name = "steps", .fields = STEP, .bytes = sizeof(struct step), .capacity = 10};
	struct evspace_element *out = evspace_element_make(&plan, why, sizeof(why)), *in;
	struct step t = {.rank = 3, .phase = "solve"};
	struct evspace_element_tuple about;
	int64_t before = (int64_t)time(NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	in = look("steps");
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
	struct evspace_element *out = make("full", 7, 0), *in = look("full");
	struct evspace_element_state state;
	struct evspace_element_tuple about;
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	for (uint64_t n = 0; n < 3; n++)
		put(out, n);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 1);
	for (uint64_t n = 3; n < 100; n++)
		CU_ASSERT_EQUAL(put(out, n), 0);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 1);
	CU_ASSERT_TRUE(about.number == 93 && about.lost == 92 && is_whole(&t, 93));
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 1);
	CU_ASSERT_TRUE(about.number == 94 && about.lost == 0);
	evspace_element_look(in, &state);
	CU_ASSERT_TRUE(state.written == 100 && state.oldest == 93 && state.capacity == 7);
	CU_ASSERT_TRUE(state.has_writer && state.readers == 0);
	evspace_element_close(out);
	evspace_element_look(in, &state);
	CU_ASSERT_FALSE(state.has_writer);
	/* who comes next goes on */
	out = make("full", 1000, 5);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	put(out, 100);
	CU_ASSERT_EQUAL(evspace_element_newest(in, &t, &about), 1);
	CU_ASSERT_TRUE(about.number == 100 && is_whole(&t, 100));
	evspace_element_close(in);
	evspace_element_close(out);
}

static void types_differ(void)
{
	struct evspace_element *out = make("typed", 10, 0);
	struct evspace_element_plan plan = {
		.name = "typed", .fields = STEP, .bytes = sizeof(struct step)};

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EPROTOTYPE);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "has the fields \"" LARGE "\", not \"" STEP "\""));
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EPROTOTYPE);
	plan.fields = NULL;
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EPROTOTYPE);
	plan = (struct evspace_element_plan){.name = "other", .fields = STEP, .bytes = 8};
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	plan = (struct evspace_element_plan){.name = "../x", .fields = STEP};
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	plan = (struct evspace_element_plan){.name = "none"};
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, ENOENT);
	plan = (struct evspace_element_plan){.name = "none", .run = "a/b"};
	CU_ASSERT_PTR_NULL(evspace_element_open(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	/* one writer */
	CU_ASSERT_PTR_NULL(make("typed", 10, 0));
	CU_ASSERT_EQUAL(errno, EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "one writer at a time"));
	evspace_element_close(out);
	out = make("typed", 10, 0);
	CU_ASSERT_PTR_NOT_NULL(out);
	evspace_element_close(out);
}

/* ---- waiting ---- */

static void put_after_a_while(const char *name)
{
	struct evspace_element *out = make(name, 10, 0);

	nap_us(20000);
	for (uint64_t n = 0; n < 3; n++)
		put(out, n);
}

/* Who reads may also be first: it makes the element, and sleeps. */
static void readers_are_woken(void)
{
	const struct evspace_element_plan plan = {
		.name = "woken", .fields = LARGE, .bytes = sizeof(struct large), .capacity = 10};
	struct evspace_element *in = evspace_element_open(&plan, why, sizeof(why));
	struct large t;
	pid_t pid;

	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	pid = start(put_after_a_while, "woken");
	for (uint64_t n = 0; n < 3; n++) {
		CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 30000), 1);
		CU_ASSERT_TRUE(is_whole(&t, n));
	}
	CU_ASSERT_EQUAL(end(pid, 0), 0);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 1), 0);
	evspace_element_close(in);
}

static void waits(const char *name)
{
	struct evspace_element *in = look(name);
	struct large t;

	if (!in || evspace_element_next(in, &t, NULL, -1) != -1 || errno != ESTALE)
		_exit(1);
}

static void removed_elements_wake(void)
{
	struct evspace_element *out = make("removed", 10, 0);
	char path[200];
	pid_t pid;

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	pid = start(waits, "removed");
	nap_us(10000);
	path_of("removed", path, sizeof(path));
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(end(pid, 0), 0);
	CU_ASSERT_EQUAL(put(out, 0), 0);
	evspace_element_close(out);
}

static void full_waits(void)
{
	struct evspace_element *out = make("slow", 4, 1), *in = look("slow");
	struct evspace_element_state state;
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	/* nobody reads: nobody is waited for */
	for (uint64_t n = 0; n < 10; n++)
		CU_ASSERT_EQUAL(put(out, n), 0);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
	CU_ASSERT_TRUE(is_whole(&t, 6));
	evspace_element_look(in, &state);
	CU_ASSERT_EQUAL(state.readers, 1);
	CU_ASSERT_EQUAL(put(out, 10), 0);
	CU_ASSERT_EQUAL(put(out, 11), -1);
	CU_ASSERT_EQUAL(errno, ETIMEDOUT);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
	CU_ASSERT_EQUAL(put(out, 11), 0);
	for (uint64_t n = 8; n < 12; n++) {
		CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
		CU_ASSERT_TRUE(is_whole(&t, n));
	}
	for (uint64_t n = 12; n < 16; n++)
		CU_ASSERT_EQUAL(put(out, n), 0);
	CU_ASSERT_EQUAL(put(out, 16), -1);
	evspace_element_close(in);
	CU_ASSERT_EQUAL(put(out, 16), 0);
	evspace_element_close(out);
}

enum { MANY = 30000 };

static void reads_all(const char *name)
{
	struct evspace_element *in = look(name);
	struct evspace_element_tuple about;
	struct large t;

	for (uint64_t n = 0; n < MANY; n++)
		if (evspace_element_next(in, &t, &about, 60000) != 1 || about.number != n ||
		    about.lost || !is_whole(&t, n))
			_exit(1);
}

static bool has_readers(struct evspace_element *e, unsigned n)
{
	struct evspace_element_state state;

	for (int i = 0; i < 10000; i++) {
		evspace_element_look(e, &state);
		if (state.readers == n)
			return true;
		nap_us(1000);
	}
	return false;
}

/* Nothing is lost for anybody, though the ring is small. */
static void waiting_loses_nothing(void)
{
	struct evspace_element *out = make("exact", 3, -1);
	pid_t pids[3];

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (int i = 0; i < 3; i++)
		pids[i] = start(reads_all, "exact");
	CU_ASSERT_TRUE_FATAL(has_readers(out, 3));
	for (uint64_t n = 0; n < MANY; n++)
		if (put(out, n) < 0)
			CU_FAIL("a write that waits for ever fails");
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(end(pids[i], 0), 0);
	evspace_element_close(out);
}

/* ---- the killed ---- */

static void reads_one(const char *name)
{
	struct evspace_element *in = look(name);
	struct large t;

	evspace_element_next(in, &t, NULL, -1);
	for (;;)
		pause();
}

static void killed_readers_hold_nobody(void)
{
	struct evspace_element *out = make("held", 2, -1);
	pid_t pids[2];

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	pids[0] = start(reads_one, "held");
	CU_ASSERT_TRUE_FATAL(has_readers(out, 1));
	/* killed while it sleeps */
	end(pids[0], SIGKILL);
	for (uint64_t n = 0; n < 10; n++)
		CU_ASSERT_EQUAL(put(out, n), 0);
	/* killed while the writer waits for it */
	pids[0] = start(reads_one, "held");
	CU_ASSERT_TRUE_FATAL(has_readers(out, 1));
	pids[1] = fork();
	if (pids[1] == 0) {
		nap_us(30000);
		kill(pids[0], SIGKILL);
		_exit(0);
	}
	for (uint64_t n = 10; n < 20; n++)
		CU_ASSERT_EQUAL(put(out, n), 0);
	end(pids[0], 0);
	end(pids[1], 0);
	CU_ASSERT_TRUE(has_readers(out, 0));
	evspace_element_close(out);
}

static void writes_for_ever(const char *name)
{
	struct evspace_element *out = make(name, 50, 0);
	struct evspace_element_state state;

	if (!out)
		_exit(1);
	evspace_element_look(out, &state);
	for (uint64_t n = state.written;; n++)
		put(out, n);
}

/* Whenever a writer is killed: all that can be read is whole, and another one goes on. */
static void killed_writers_tear_nothing(void)
{
	struct evspace_element *out = make("torn", 50, 0), *in = look("torn");
	uint64_t taken = 0, lost = 0, torn = 0, before = 0;
	struct evspace_element_tuple about;
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	evspace_element_close(out);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, &about, 0), 0);
	for (int i = 0; i < 40; i++) {
		pid_t pid = start(writes_for_ever, "torn");

		while (written("torn") == before)
			nap_us(100);
		nap_us(i * 37);
		end(pid, SIGKILL);
		before = written("torn");
		while (evspace_element_next(in, &t, &about, 0) == 1) {
			torn += !is_whole(&t, about.number);
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

	while (written("lapped") == 0)
		nap_us(1000);
	in = look("lapped");
	CU_ASSERT_PTR_NOT_NULL_FATAL(in);
	for (int i = 0; i < 20000; i++) {
		if (evspace_element_next(in, &t, &about, 60000) != 1)
			CU_FAIL("no tuple of a writer that lives");
		torn += !is_whole(&t, about.number) || about.number < next;
		next = about.number + 1;
		torn += evspace_element_newest(in, &t, &about) == 1 && !is_whole(&t, about.number);
	}
	CU_ASSERT_EQUAL(torn, 0);
	end(pid, SIGKILL);
	evspace_element_close(in);
}

/* ---- files that lie ---- */

/* Change @n bytes at @at of the file of @name. */
static void forge(const char *name, size_t at, const void *bytes, size_t n)
{
	char path[200];
	int fd;

	path_of(name, path, sizeof(path));
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_EQUAL(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
	close(fd);
}

static void refused(const char *part)
{
	errno = 0;
	CU_ASSERT_PTR_NULL(look("forged"));
	if (!strstr(why, part)) {
		tap_note("%s", why);
		CU_FAIL("another message");
	}
	CU_ASSERT_TRUE(errno == EINVAL || errno == EACCES);
}

#define AT(member) offsetof(struct pastset_header, member)

static void forged_headers(void)
{
	static const struct {
		size_t at, n;
		uint64_t value;
		const char *why;
	} lies[] = {
		{AT(magic), 1, 'X', "no element"},
		{AT(version), 4, 99, "another version"},
		{AT(byte_order), 8, 0, "byte order"},
		{AT(capacity), 4, 0, "capacity"},
		{AT(capacity), 4, UINT32_MAX, "capacity"},
		{AT(capacity), 4, 100, "does not follow"},
		{AT(size), 8, 1 << 20, "does not follow"},
		{AT(slot_bytes), 4, 8, "does not follow"},
		{AT(slot_bytes), 4, UINT32_MAX, "does not follow"},
		{AT(wait_ms), 4, 0x80000000u, "patience"},
		{AT(clock_kind), 4, 77, "clock"},
		{AT(uid), 4, 12345, "owner"},
		{AT(fields), 1, '9', "no type"},
		{AT(fields) + sizeof(LARGE) - 3, 1, '1', "does not follow"},
	};
	struct evspace_element *out = make("forged", 10, 0);
	struct pastset_header right;
	char path[200], x[FIELDS_TEXT];
	int fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	evspace_element_close(out);
	path_of("forged", path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(pread(fd, (void *)&right, sizeof(right), 0), (ssize_t)sizeof(right));
	close(fd);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		forge("forged", lies[i].at, &lies[i].value, lies[i].n);
		refused(lies[i].why);
		forge("forged", 0, &right, sizeof(right));
	}
	memset(x, 'x', sizeof(x));
	forge("forged", AT(fields), x, sizeof(x));
	refused("no end");
	forge("forged", 0, &right, sizeof(right));
	CU_ASSERT_EQUAL(chmod(path, 0640), 0);
	refused("yours alone");
	CU_ASSERT_EQUAL(chmod(path, 0600), 0);
	out = look("forged");
	CU_ASSERT_PTR_NOT_NULL(out);
	evspace_element_close(out);
	for (off_t n = 0; n < 3 * (off_t)PASTSET_PAGE; n += 1000) {
		CU_ASSERT_EQUAL(truncate(path, n), 0);
		refused("");
	}
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	refused("yours alone");
}

/* What others write into the page that all write does not lead astray. */
static void forged_words(void)
{
	static const uint64_t values[] = {0,	     1, 5, 1000, UINT64_MAX / 2, UINT64_MAX - 1,
					  UINT64_MAX};
	struct evspace_element *out = make("words", 4, 1), *in = look("words");
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	for (uint64_t n = 0; n < 3; n++)
		put(out, n);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (unsigned part = 0; part < PASTSET_READERS; part++)
			forge("words", PASTSET_READERS_AT + part * sizeof(struct pastset_reader),
			      &values[i], sizeof(values[i]));
		for (uint64_t n = 0; n < 20; n++)
			(void)put(out, n);
		forge("words", PASTSET_LIVE_AT, &values[i], sizeof(values[i]));
		(void)evspace_element_newest(in, &t, NULL);
		(void)evspace_element_at(in, values[i] - 1, &t, NULL);
		for (int k = 0; k < 20; k++)
			(void)evspace_element_next(in, &t, NULL, 0);
	}
	errno = 0;
	forge("words", PASTSET_LIVE_AT, &values[0], sizeof(values[0]));
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, -1), -1);
	CU_ASSERT_EQUAL(errno, EIO);
	forge("words", PASTSET_LIVE_AT, &values[6], sizeof(values[6]));
	evspace_element_close(out);
	CU_ASSERT_PTR_NULL(make("words", 4, 1));
	CU_ASSERT_EQUAL(errno, EIO);
	evspace_element_close(in);
}

static void limits_are_said(void)
{
	struct evspace_element_plan plan = {
		.name = "huge", .fields = LARGE, .capacity = PASTSET_CAPACITY_MAX + 1};

	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	setenv("EVSPACE_QUOTA", "1M", 1);
	plan.capacity = 100000;
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, why, sizeof(why)));
	CU_ASSERT_EQUAL(errno, EDQUOT);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "the quota is"));
	unsetenv("EVSPACE_QUOTA");
	CU_ASSERT_EQUAL(written("huge"), 0);
	errno = 0;
	CU_ASSERT_PTR_NULL(look("huge"));
	CU_ASSERT_EQUAL(errno, ENOENT);
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
	{"headers that lie, files that are cut", forged_headers},
	{"words that lie", forged_words},
	{"limits are said", limits_are_said},
	CU_TEST_INFO_NULL,
};

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "pastset", .pTests = pastset_cases},
		CU_SUITE_INFO_NULL,
	};
	int rc;

	snprintf(base, sizeof(base), "/dev/shm/evspace-pastset.XXXXXX");
	if (!mkdtemp(base))
		return 1;
	setenv("EVSPACE_DIR", base, 1);
	setenv("EVSPACE_RUN", "run", 1);
	rc = tap_run(suites);
	nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return rc;
}
