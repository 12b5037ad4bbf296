/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the shelf: cursor files stay for whoever may come back, and take no more than there is for
 * them. */
#include "node-agent/segment/folder.h"
#include "node-agent/store/shelf.h"
#include "node-agent/store/cursor.h"
#include "tests/tap.h"
#include "tree/data/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static char dir[] = "/dev/shm/evspace-shelf.XXXXXX";

static int setup(void)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void)
{
	return rmdir(dir);
}

#define KEEP_NS 3600000000000u

/* The file of scope number @i, in @path; and the scope. */
static char *scope_path(uint32_t i, unsigned char scope[16], char path[300])
{
	char hex[33];

	memset(scope, 0, 16);
	memcpy(scope, "scope", 5);
	memcpy(scope + 8, &i, sizeof(i));
	for (int k = 0; k < 16; k++)
		snprintf(hex + 2 * k, 3, "%02x", scope[k]);
	snprintf(path, 300, "%s/run/%s.w0" CURSOR_SUFFIX, dir, hex);
	return path;
}

/* Scope number @i of @peer comes, reads and leaves; it may come back for @keep_ns. */
static void come_and_go(struct shelf *shelf, uint32_t i, const char *peer, uint64_t keep_ns)
{
	const struct cursor_owner owner = {peer, keep_ns, shelf};
	const struct cursor_key key = {.device = 1, .inode = 2, .born = 3};
	unsigned char scope[16];
	struct cursor *c;
	char run[80], path[300];

	scope_path(i, scope, path);
	snprintf(run, sizeof(run), "%s/run", dir);
	c = cursor_open(run, scope, "w0", &owner, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	(void)cursor_row(c, &key, 0);
	CU_ASSERT_EQUAL(cursor_wave(c, cursor_resumed(c) ? 2 : 1, false, 1), CURSOR_NEW);
	cursor_to(c, 0, cursor_from(c, 0) + 1);
	CU_ASSERT_EQUAL(cursor_commit(c), 0);
	cursor_close(c, true);
}

static bool is_left(uint32_t i)
{
	unsigned char scope[16];
	char path[300];

	return access(scope_path(i, scope, path), F_OK) == 0;
}

static unsigned files_left(void)
{
	const struct dirent *entry;
	unsigned n = 0;
	char run[80];
	DIR *d;

	snprintf(run, sizeof(run), "%s/run", dir);
	d = opendir(run);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	while ((entry = readdir(d)))
		n += strstr(entry->d_name, CURSOR_SUFFIX) != NULL;
	closedir(d);
	return n;
}

static void folder_of_run(bool make)
{
	char run[80];

	snprintf(run, sizeof(run), "%s/run", dir);
	CU_ASSERT_EQUAL(make ? mkdir(run, 0700) : rmdir(run), 0);
}

/* Who opens and leaves many takes none of others' and not much; who leaves one has it back. */
static void shelf_has_room_for_all(void)
{
	struct shelf *shelf;

	folder_of_run(true);
	shelf = shelf_new(dir, "w0", KEEP_NS);
	come_and_go(shelf, 0, "alice", KEEP_NS);
	for (uint32_t i = 1; i <= 100; i++)
		come_and_go(shelf, i, "mallory", KEEP_NS);
	CU_ASSERT_EQUAL(files_left(), 1 + SHELF_PEER);
	/* the last ones are there, and once each */
	come_and_go(shelf, 100, "mallory", KEEP_NS);
	CU_ASSERT_EQUAL(files_left(), 1 + SHELF_PEER);
	for (uint32_t i = 1000; i < 2000; i++) {
		char peer[16];

		snprintf(peer, sizeof(peer), "m%u", i);
		come_and_go(shelf, i, peer, KEEP_NS);
	}
	CU_ASSERT(files_left() <= SHELF_FILES);
	shelf_free(shelf);
	/* who comes next on the node has them all, and no more of another's */
	shelf = shelf_new(dir, "w1", 0);
	CU_ASSERT(files_left() > SHELF_FILES / 2);
	shelf_free(shelf);
	shelf = shelf_new(dir, "w0", 0);
	CU_ASSERT_EQUAL(files_left(), 0);
	shelf_free(shelf);
	folder_of_run(false);
}

#define MANY 6000u

/* An agent begins soon however many files it finds, and keeps as fair a choice as it would have. */
static void very_many_are_found(void)
{
	unsigned char scope[16];
	char path[300], peer[16];
	struct shelf *shelf;
	uint32_t began_us;

	folder_of_run(true);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(peer, sizeof(peer), "m%u", i);
		come_and_go(NULL, i, i == 0 ? "alice" : i > MANY - 100 ? "mallory" : peer, KEEP_NS);
	}
	began_us = (uint32_t)clock_cpu_us();
	shelf = shelf_new(dir, "w0", KEEP_NS);
	tap_note("%u us", (uint32_t)clock_cpu_us() - began_us);
	CU_ASSERT((uint32_t)clock_cpu_us() - began_us < 1000000);
	CU_ASSERT_EQUAL(files_left(), SHELF_FILES);
	/* who has many has one, as all of the others who were there last */
	CU_ASSERT_TRUE(is_left(MANY - 1));
	CU_ASSERT_FALSE(is_left(MANY - 2));
	CU_ASSERT_TRUE(is_left(MANY - 100));
	CU_ASSERT_FALSE(is_left(0));
	shelf_free(shelf);
	shelf = shelf_new(dir, "w0", KEEP_NS);
	CU_ASSERT_EQUAL(files_left(), SHELF_FILES);
	CU_ASSERT_EQUAL(access(scope_path(MANY - 1, scope, path), F_OK), 0);
	shelf_free(shelf);
	shelf_free(shelf_new(dir, "w0", 0));
	CU_ASSERT_EQUAL(files_left(), 0);
	folder_of_run(false);
}

static void shelf_keeps_for_its_time(void)
{
	struct shelf *shelf;
	uint64_t next;

	folder_of_run(true);
	shelf = shelf_new(dir, "w0", KEEP_NS);
	CU_ASSERT_EQUAL(shelf_tidy(shelf), UINT64_MAX);
	come_and_go(shelf, 0, "alice", KEEP_NS / 2);
	come_and_go(shelf, 1, "alice", KEEP_NS * 2);
	next = shelf_tidy(shelf);
	CU_ASSERT(next > KEEP_NS / 4 && next <= KEEP_NS / 2);
	come_and_go(shelf, 2, "bob", 0);
	CU_ASSERT_EQUAL(files_left(), 3);
	(void)shelf_tidy(shelf);
	CU_ASSERT_EQUAL(files_left(), 2);
	shelf_free(shelf);
	shelf_free(shelf_new(dir, "w0", 0));
	folder_of_run(false);
}

/* Another node looks into cursors just when they are due, or just when an agent begins. */
static void what_is_locked_is_not_forgotten(void)
{
	unsigned char scope[16];
	struct shelf *shelf;
	char path[300];
	int fd;

	folder_of_run(true);
	shelf = shelf_new(dir, "w0", 0);
	come_and_go(shelf, 0, "alice", 0);
	fd = open(scope_path(0, scope, path), O_RDONLY);
	CU_ASSERT_EQUAL(flock(fd, LOCK_SH), 0);
	(void)shelf_tidy(shelf);
	CU_ASSERT_TRUE(is_left(0));
	shelf_free(shelf);
	shelf = shelf_new(dir, "w0", 0);
	CU_ASSERT_TRUE(is_left(0));
	close(fd);
	CU_ASSERT_EQUAL(shelf_tidy(shelf), UINT64_MAX);
	CU_ASSERT_FALSE(is_left(0));
	shelf_free(shelf);
	folder_of_run(false);
}

/* The one that is to go first is in use: others go. */
static void locked_ones_end_nothing(void)
{
	unsigned char scope[16];
	struct shelf *shelf;
	char path[300];
	int fd;

	folder_of_run(true);
	shelf = shelf_new(dir, "w0", KEEP_NS);
	come_and_go(shelf, 0, "mallory", KEEP_NS);
	fd = open(scope_path(0, scope, path), O_RDONLY);
	CU_ASSERT_EQUAL(flock(fd, LOCK_SH), 0);
	for (uint32_t i = 1; i <= SHELF_PEER; i++)
		come_and_go(shelf, i, "mallory", KEEP_NS);
	CU_ASSERT_EQUAL(files_left(), SHELF_PEER);
	CU_ASSERT_TRUE(is_left(0));
	CU_ASSERT_FALSE(is_left(1));
	close(fd);
	shelf_free(shelf);
	shelf_free(shelf_new(dir, "w0", 0));
	folder_of_run(false);
}

/* An open file that is said to take @bytes. */
static struct shelf_item *take(struct shelf *shelf, const char *peer, uint64_t bytes, int *result)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/run/open", dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	struct shelf_item *i = shelf_open(shelf, path, fd, peer);

	*result = shelf_grow(i, bytes);
	close(fd);
	unlink(path);
	return i;
}

/* Open files and left ones have so many bytes together; who has most gives way. */
static void who_has_most_goes_first(void)
{
	struct shelf_item *a, *b, *c;
	uint64_t most = SHELF_BYTES;
	struct statvfs fs;
	struct shelf *shelf;
	int result;

	folder_of_run(true);
	CU_ASSERT_EQUAL(statvfs(dir, &fs), 0);
	if ((uint64_t)fs.f_blocks * fs.f_frsize / 16 < most)
		most = (uint64_t)fs.f_blocks * fs.f_frsize / 16;
	shelf = shelf_new(dir, "w0", KEEP_NS);
	come_and_go(shelf, 0, "alice", KEEP_NS);
	for (uint32_t i = 1; i <= 3; i++)
		come_and_go(shelf, i, "mallory", KEEP_NS);
	a = take(shelf, "carol", most / 2 + 1, &result);
	CU_ASSERT_EQUAL(result, -1);
	CU_ASSERT_EQUAL(errno, EDQUOT);
	CU_ASSERT_EQUAL(shelf_grow(a, most / 2), 0);
	CU_ASSERT_EQUAL(files_left(), 4);
	b = take(shelf, "dave", most / 2 - 150000, &result);
	CU_ASSERT_EQUAL(result, 0);
	/* each has 40 KiB: of three of them one may stay */
	CU_ASSERT_TRUE(is_left(0));
	CU_ASSERT_FALSE(is_left(1));
	CU_ASSERT_TRUE(is_left(3));
	/* when nothing is left, there is no more */
	CU_ASSERT_EQUAL(shelf_grow(b, most / 2), 0);
	CU_ASSERT_EQUAL(files_left(), 0);
	c = take(shelf, "alice", 4096, &result);
	CU_ASSERT_EQUAL(result, -1);
	shelf_close(a, false);
	CU_ASSERT_EQUAL(shelf_grow(c, 4096), 0);
	shelf_close(b, false);
	shelf_close(c, false);
	shelf_free(shelf);
	folder_of_run(false);
}

int main(void)
{
	CU_TestInfo cases[] = {
		{"consumers that leave have room for so many", shelf_has_room_for_all},
		{"very many files that are found hold nobody up", very_many_are_found},
		{"files stay for as long as their consumers try", shelf_keeps_for_its_time},
		{"files that are locked are not forgotten", what_is_locked_is_not_forgotten},
		{"one that is locked ends nothing", locked_ones_end_nothing},
		{"who has most goes first", who_has_most_goes_first},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "shelf", .pInitFunc = setup, .pCleanupFunc = teardown, .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
