/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how room is made for a program's segment: which ended runs make way, which do not. */
#include "node-agent/segment/folder.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-file.h"
#include "node-agent/store/cursor.h"
#include "pathmap/base/memory.h"
#include "tests/tap.h"
#include "tests/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A run of one process, which has ended. Returns its file's size. */
static uint64_t ended_run(const char *run)
{
	pid_t m = maker_start(run, 0, 1);
	char path[400];
	struct stat st;

	maker_end(m);
	snprintf(path, sizeof(path), "%s/%s/rank0.%d.seg", fixture.base, run, (int)m);
	CU_ASSERT_EQUAL_FATAL(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static char removed[128]; /* for the next program */

/* A next program's segment, with a quota of @tenths of a segment's size. Returns 0 or errno. */
static int next_program(uint64_t size, unsigned tenths, bool replaces, uint32_t *note)
{
	struct segment_plan plan = {.run = "next", .world_size = 4, .world = 1};
	struct segment segment;
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/next", fixture.base);
	mkdir(dir, 0700);
	plan.dir = dir;
	plan.quota = size * tenths / 10;
	plan.replaces = replaces;
	if (segment_create(&segment, &plan, NULL) < 0)
		return errno;
	*note = atomic_load(&segment.header->note) & SEGMENT_NOTE_ROOM;
	memcpy(removed, segment.said.removed, sizeof(removed));
	segment_close(&segment);
	return 0;
}

static void oldest_make_way(void)
{
	uint64_t size = ended_run("oldest");
	pid_t live = maker_start("live", 0, 1);
	char words[512];
	uint32_t note;

	ended_run("old");
	ended_run("newest");
	CU_ASSERT_EQUAL(next_program(size, 35, false, &note), EDQUOT);
	CU_ASSERT_TRUE(fixture_exists("oldest"));
	CU_ASSERT_EQUAL_FATAL(next_program(size, 35, true, &note), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(segment_notes(note, removed, words, sizeof(words)),
				      "were removed: oldest, old"));
	CU_ASSERT_FALSE(fixture_exists("oldest"));
	CU_ASSERT_FALSE(fixture_exists("old"));
	CU_ASSERT_TRUE(fixture_exists("newest"));
	CU_ASSERT_TRUE(fixture_exists("live/rank0.%d.seg", (int)live));
	maker_end(live);
}

/* Another process makes room for longer than one waits for its turn; what it has made is enough. */
static void others_make_room(void)
{
	uint64_t size = ended_run("old");
	int turn = open(fixture.base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint32_t note;
	pid_t maker;

	CU_ASSERT_EQUAL(flock(turn, LOCK_EX), 0);
	maker = fork();
	if (maker == 0) {
		char command[512];

		/* until its file has its bytes, which are too many */
		snprintf(command, sizeof(command),
			 "until [ \"$(du -sk %s/next 2>/dev/null | cut -f 1)\" -gt 100 ]; do :; "
			 "done; "
			 "rm -r %s/old",
			 fixture.base, fixture.base);
		_exit(system(command));
	}
	CU_ASSERT_EQUAL(next_program(size, 15, true, &note), 0);
	CU_ASSERT_EQUAL(note, 0);
	CU_ASSERT_EQUAL(waitpid(maker, NULL, 0), maker);
	close(turn);
}

/* An agent that makes an element of the map takes none, and waits for none. */
static void map_removes_nothing(void)
{
	uint64_t size = ended_run("old");
	struct fields fields;
	struct pastset_plan plan = {.name = "x",
				    .run = "next",
				    .fields = &fields,
				    .quota = size * 3 / 2,
				    .made_by = "n0"};
	struct error e;
	char path[300];
	struct stat st;
	int dir;

	CU_ASSERT_EQUAL_FATAL(fields_parse(&fields, "a f64", NULL), 0);
	plan.capacity = (unsigned)(size / 16);
	snprintf(path, sizeof(path), "%s/next", fixture.base);
	mkdir(path, 0700);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(pastset_make(dir, path, &plan, &e), -1);
	CU_ASSERT_EQUAL(errno, EDQUOT);
	CU_ASSERT_TRUE(fixture_exists("old"));
	/* a program's own */
	plan.made_by = NULL;
	CU_ASSERT_EQUAL(pastset_make(dir, path, &plan, &e), 0);
	CU_ASSERT_FALSE(fixture_exists("old"));
	CU_ASSERT_EQUAL(fstatat(dir, "x" ELEMENT_SUFFIX, &st, 0), 0);
	close(dir);
}

static void none_goes_in_vain(void)
{
	uint64_t size = ended_run("old");
	pid_t live = maker_start("live", 0, 1);
	uint32_t note;

	CU_ASSERT_EQUAL(next_program(size, 19, true, &note), EDQUOT);
	CU_ASSERT_TRUE(fixture_exists("old"));
	CU_ASSERT_EQUAL(next_program(size, 30, true, &note), 0);
	CU_ASSERT_EQUAL(note, 0);
	CU_ASSERT_TRUE(fixture_exists("old"));
	maker_end(live);
}

static void what_is_in_use_stays(void)
{
	const struct cursor_owner owner = {.peer = "alice", .keep_ns = UINT64_MAX};
	uint64_t size = ended_run("read");
	unsigned char id[16] = "scope";
	char path[300];
	struct cursor *c;
	uint32_t note;
	int held;

	ended_run("held");
	ended_run("mirrored");
	ended_run("old");
	snprintf(path, sizeof(path), "%s/read", fixture.base);
	c = cursor_open(path, id, "w0", &owner, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	snprintf(path, sizeof(path), "%s/held", fixture.base);
	held = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_EQUAL(flock(held, LOCK_EX), 0);
	fixture_file("mirrored", "rank1.1.0123456789abcdef.mirror", "");
	CU_ASSERT_EQUAL(next_program(size, 42, true, &note), 0);
	CU_ASSERT_TRUE(fixture_exists("read"));
	CU_ASSERT_TRUE(fixture_exists("held"));
	CU_ASSERT_TRUE(fixture_exists("mirrored"));
	CU_ASSERT_FALSE(fixture_exists("old"));
	close(held);
	cursor_close(c, false);
}

/* Another process finds it as @tenths of a segment's size are left. */
static void goes_not(uint64_t size, unsigned tenths, const char *run)
{
	uint32_t note;

	CU_ASSERT_EQUAL(next_program(size, tenths, true, &note), EDQUOT);
	CU_ASSERT_TRUE(fixture_exists("%s", run));
}

/* What observers leave behind takes nothing of the programs' quota. */
static void cursors_take_no_quota(void)
{
	uint64_t size = ended_run("old");
	char *text = memory_new(size + 1, 1);
	uint32_t note;

	memset(text, 'x', size);
	fixture_file("old", "00.w0" CURSOR_SUFFIX, text);
	free(text);
	CU_ASSERT_EQUAL(next_program(size, 22, true, &note), 0);
	CU_ASSERT_EQUAL(note, 0);
}

/* Elements of programs go with their run, unless somebody has one open. A run of them alone is no
 * program that could have ended. All take room. */
static void elements_in_use_stay(void)
{
	uint64_t size = ended_run("held");
	char *text = memory_new(size + 1, 1), path[300];
	uint32_t note;
	int held;

	ended_run("old");
	memset(text, 'x', size);
	fixture_file("served", "a" ELEMENT_SUFFIX, text);
	free(text);
	fixture_file("old", "a" ELEMENT_SUFFIX, "");
	fixture_file("held", "a" ELEMENT_SUFFIX, "");
	snprintf(path, sizeof(path), "%s/held/a" ELEMENT_SUFFIX, fixture.base);
	held = open(path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(folder_lock(held, LOCK_SH), 0);
	CU_ASSERT_EQUAL(next_program(size, 35, true, &note), 0);
	CU_ASSERT_TRUE(fixture_exists("held/a" ELEMENT_SUFFIX));
	CU_ASSERT_TRUE(fixture_exists("served/a" ELEMENT_SUFFIX));
	CU_ASSERT_FALSE(fixture_exists("old"));
	close(held);
}

/* As many as there have to be go, the one that is not read first. */
static void one_goes(uint64_t size, const char *stays)
{
	uint32_t note;

	CU_ASSERT_EQUAL(next_program(size, 25, true, &note), 0);
	CU_ASSERT_TRUE(fixture_exists("%s", stays));
}

/* Whoever reads an ended run, by numbers of its elements or not, has it for longer than those have
 * theirs that nobody reads. */
static void what_is_read_goes_last(void)
{
	uint64_t size = ended_run("old");
	const struct store_segment *s;

	fixture_start(false);
	s = TAILQ_FIRST(&fixture.store.segments);
	store_hold(TAILQ_FIRST(&fixture.store.segments));
	store_hold(TAILQ_FIRST(&fixture.store.segments));
	store_release(&fixture.store, s->serial);
	ended_run("newer");
	one_goes(size, "old");
	CU_ASSERT_FALSE(fixture_exists("newer"));
}

static char two[2][96]; /* files of a run: when one is removed, somebody begins to read the other */
static int reader = -1;

/* Instead of the C library's. */
int unlinkat(int dir, const char *name, int flags)
{
	bool first = strcmp(name, two[0]) == 0;

	if (reader < 0 && (first || strcmp(name, two[1]) == 0)) {
		reader = openat(dir, two[first], O_RDONLY | O_CLOEXEC);
		CU_ASSERT_EQUAL(folder_lock(reader, LOCK_SH), 0);
	}
	return (int)syscall(SYS_unlinkat, dir, name, flags);
}

/* Who begins to read a run that is being removed keeps what is left of it. */
static void what_comes_to_be_read_stays(void)
{
	uint64_t size = ended_run("old");
	pid_t m = maker_start("old", 1, 1);
	const struct store_segment *s;
	uint32_t note;
	int i = 0;

	maker_end(m);
	fixture_start(false);
	TAILQ_FOREACH (s, &fixture.store.segments, link)
		snprintf(two[i++ % 2], sizeof(two[0]), "%s", s->file);
	CU_ASSERT_EQUAL(next_program(size, 25, true, &note), 0);
	CU_ASSERT_TRUE(reader >= 0);
	CU_ASSERT_EQUAL(fixture_exists("old/%s", two[0]) + fixture_exists("old/%s", two[1]), 1);
	close(reader);
	two[0][0] = two[1][0] = '\0';
}

/* An observer keeps no program out. */
static void what_is_read_goes(void)
{
	uint64_t size = ended_run("old");
	uint32_t note;

	ended_run("older");
	fixture_start(false);
	store_hold(TAILQ_FIRST(&fixture.store.segments));
	store_hold(TAILQ_LAST(&fixture.store.segments, store_list));
	CU_ASSERT_EQUAL(next_program(size, 15, true, &note), 0);
	CU_ASSERT_NOT_EQUAL(note, 0);
	CU_ASSERT_FALSE(fixture_exists("old") || fixture_exists("older"));
}

/* Another process asks just then whether anybody reads it. */
static void what_is_asked_for_goes_last(void)
{
	uint64_t size = ended_run("old");
	struct store_segment *s;
	int asks;

	fixture_start(false);
	s = TAILQ_FIRST(&fixture.store.segments);
	asks = open(s->segment.path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(flock(asks, LOCK_EX), 0);
	store_hold(s);
	close(asks);
	store_hold_again(s);
	ended_run("newer");
	one_goes(size, "old");
}

/* The program's ids mean nothing here: as in a container that shares the memory. */
static void who_is_elsewhere_is_not_gone(void)
{
	uint64_t size = ended_run("apart"), space = 1;
	char path[300];
	uint32_t note, yes = 1;
	glob_t found;
	int fd;

	snprintf(path, sizeof(path), "%s/apart/*" SEGMENT_SUFFIX, fixture.base);
	CU_ASSERT_EQUAL_FATAL(glob(path, 0, NULL, &found), 0);
	fd = open(found.gl_pathv[0], O_RDWR);
	CU_ASSERT_FATAL(fd >= 0);
	globfree(&found);
	CU_ASSERT_EQUAL(
		pwrite(fd, &space, sizeof(space), offsetof(struct segment_header, pid_space)),
		sizeof(space));
	goes_not(size, 15, "apart");
	fixture_start(false);
	store_purge(&fixture.store, NULL, 0, false);
	CU_ASSERT_TRUE(TAILQ_FIRST(&fixture.store.segments)->alive);
	goes_not(size, 15, "apart");
	CU_ASSERT_EQUAL(pwrite(fd, &yes, sizeof(yes), offsetof(struct segment_header, finished)),
			sizeof(yes));
	close(fd);
	CU_ASSERT_FALSE(store_check_alive(TAILQ_FIRST(&fixture.store.segments)));
	CU_ASSERT_EQUAL(next_program(size, 15, true, &note), 0);
	CU_ASSERT_FALSE(fixture_exists("apart"));
}

/* As many as fit are named. */
static void those_that_went_are_named(void)
{
	uint64_t size = 0;
	char run[64];
	uint32_t note;

	for (int i = 0; i < 9; i++) {
		snprintf(run, sizeof(run), "a-run-with-a-name-that-is-long-%d", i);
		size = ended_run(run);
	}
	CU_ASSERT_EQUAL(next_program(size, 15, true, &note), 0);
	CU_ASSERT_STRING_EQUAL(removed, "a-run-with-a-name-that-is-long-0, "
					"a-run-with-a-name-that-is-long-1, "
					"a-run-with-a-name-that-is-long-2 and 6 more");
}

static CU_TestInfo cases[] = {
	{"the oldest ended runs make way for the next program", oldest_make_way},
	{"what others make room for meanwhile is enough", others_make_room},
	{"none goes in vain", none_goes_in_vain},
	{"an agent with its map removes none", map_removes_nothing},
	{"what is in use stays", what_is_in_use_stays},
	{"cursors take no quota", cursors_take_no_quota},
	{"elements in use stay", elements_in_use_stay},
	{"what is read goes last", what_is_read_goes_last},
	{"what comes to be read stays", what_comes_to_be_read_stays},
	{"what is read goes last, also when somebody asks just then", what_is_asked_for_goes_last},
	{"what is read goes where there is no other room", what_is_read_goes},
	{"who is elsewhere is not gone", who_is_elsewhere_is_not_gone},
	{"those that went are named", those_that_went_are_named},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "room",
		 .pTests = cases,
		 .pSetUpFunc = fixture_begin,
		 .pTearDownFunc = fixture_end},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
