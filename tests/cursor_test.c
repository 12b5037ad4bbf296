/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests cursors: ranges asked for again are the same, survive the agent, and are never forgotten
 * unasked. */
#include "node-agent/store/cursor.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned char id[16] = "0123456789abcde";
static char dir[] = "/dev/shm/evspace-cursor.XXXXXX";

static int setup(void)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void)
{
	return rmdir(dir);
}

static struct cursor *open_cursor(void)
{
	struct error e = {""};
	struct cursor *c = cursor_open(dir, id, "w0", NULL, &e);

	if (!c)
		tap_note("%s", e.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	return c;
}

static uint32_t add_row(struct cursor *c, uint32_t element, uint64_t start)
{
	struct cursor_key key = {.device = 1, .inode = 2, .born = 3, .element = element};

	return cursor_row(c, &key, start);
}

/* Make wave @wave, which reads @count tuples of every row. */
static void make_wave(struct cursor *c, uint64_t wave, uint64_t have, uint64_t count)
{
	CU_ASSERT_EQUAL(cursor_wave(c, wave, false, have), CURSOR_NEW);
	for (uint32_t i = 0; i < cursor_rows(c); i++)
		cursor_to(c, i, cursor_from(c, i) + count);
	CU_ASSERT_EQUAL(cursor_commit(c), 0);
}

/* Up to where the row was read by the waves made so far. */
static uint64_t position(struct cursor *c, uint32_t row)
{
	(void)cursor_wave(c, 1000, false, 999);
	return cursor_from(c, row);
}

static void again_is_the_same(void)
{
	struct cursor *c = open_cursor();
	uint32_t a = add_row(c, 0, 5), b = add_row(c, 1, 0);

	make_wave(c, 1, 0, 10);
	make_wave(c, 2, 0, 7);
	CU_ASSERT_EQUAL(cursor_wave(c, 1, true, 0), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_from(c, a), 5);
	CU_ASSERT_EQUAL(cursor_end(c, a), 15);
	CU_ASSERT_EQUAL(cursor_wave(c, 2, true, 0), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_from(c, b), 10);
	CU_ASSERT_EQUAL(cursor_end(c, b), 17);
	/* A new ask for a number that was made already is the same wave, too: never a second range.
	 */
	CU_ASSERT_EQUAL(cursor_wave(c, 2, false, 0), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_wave(c, 3, true, 0), CURSOR_NEVER);
	cursor_close(c, false);
}

static void survives_the_agent(void)
{
	struct cursor *c = open_cursor();

	add_row(c, 0, 0);
	make_wave(c, 1, 0, 3);
	/* Killed in the middle of wave 2: nothing of it counts. */
	CU_ASSERT_EQUAL(cursor_wave(c, 2, false, 0), CURSOR_NEW);
	cursor_to(c, 0, 99);
	cursor_close(c, true);
	c = open_cursor();
	CU_ASSERT_EQUAL(cursor_rows(c), 1);
	CU_ASSERT_EQUAL(add_row(c, 0, 50), 0);
	CU_ASSERT_EQUAL(cursor_wave(c, 1, true, 0), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_end(c, 0), 3);
	CU_ASSERT_EQUAL(cursor_wave(c, 2, true, 0), CURSOR_NEVER);
	CU_ASSERT_EQUAL(cursor_wave(c, 1000, false, 0), CURSOR_NEW);
	CU_ASSERT_EQUAL(cursor_from(c, 0), 3);
	cursor_close(c, false);
}

/* The first ask for a wave may come after it was asked for again, by another way. */
static void told_once(void)
{
	struct cursor *c = open_cursor();

	add_row(c, 0, 0);
	make_wave(c, 1, 0, 3);
	CU_ASSERT_EQUAL(cursor_wave(c, 3, true, 0), CURSOR_NEVER);
	cursor_close(c, true);
	c = open_cursor();
	CU_ASSERT_EQUAL(cursor_wave(c, 2, false, 0), CURSOR_NEVER);
	CU_ASSERT_EQUAL(cursor_wave(c, 3, false, 0), CURSOR_NEVER);
	CU_ASSERT_EQUAL(cursor_wave(c, 1, false, 0), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_wave(c, 4, false, 0), CURSOR_NEW);
	CU_ASSERT_EQUAL(cursor_from(c, 0), 3);
	cursor_close(c, false);
}

static void holds_until_had(void)
{
	struct cursor *c = open_cursor();
	uint64_t w = 1;

	add_row(c, 0, 0);
	while (w < CURSOR_WAVES)
		make_wave(c, w++, 0, 1);
	/* Every slot waits for the consumer's word: no wave is given up for a new one. */
	CU_ASSERT_EQUAL(cursor_wave(c, w, false, 0), CURSOR_FULL);
	CU_ASSERT_EQUAL(cursor_wave(c, 1, true, 0), CURSOR_AGAIN);
	make_wave(c, w + 1, 1, 1);
	CU_ASSERT_EQUAL(cursor_wave(c, 1, true, 0), CURSOR_NEVER);
	CU_ASSERT_EQUAL(cursor_wave(c, 2, true, 0), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_from(c, 0), 1);
	cursor_close(c, false);
}

/* Against a model: whatever order waves, rows and asks again come in, ranges join without a gap. */
static void ranges_join(void)
{
	struct cursor *c = open_cursor();
	uint64_t model[100] = {0}, rows = 0;

	srand(7);
	for (uint64_t wave = 1; wave <= 2000; wave += 1 + (uint64_t)(rand() % 3)) {
		if (rows < 100 && rand() % 4 == 0) {
			model[rows] = (uint64_t)rand() % 50;
			CU_ASSERT_EQUAL(add_row(c, (uint32_t)rows, model[rows]), rows);
			rows++;
		}
		CU_ASSERT_EQUAL(cursor_wave(c, wave, false, wave - 1), CURSOR_NEW);
		for (uint32_t i = 0; i < rows; i++) {
			CU_ASSERT_EQUAL(cursor_from(c, i), model[i]);
			model[i] += (uint64_t)rand() % 9;
			cursor_to(c, i, model[i]);
		}
		cursor_commit(c);
		if (rand() % 50 == 0) {
			cursor_close(c, true);
			c = open_cursor();
		}
	}
	CU_ASSERT(rows > 64);
	cursor_close(c, false);
}

static void other_files_are_begun_anew(void)
{
	char path[256];
	struct cursor *c = open_cursor();
	int fd;

	add_row(c, 0, 0);
	make_wave(c, 1, 0, 3);
	cursor_close(c, true);
	snprintf(path, sizeof(path), "%s/%s.w0.cursor", dir, "30313233343536373839616263646500");
	fd = open(path, O_WRONLY);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(write(fd, "garbage", 7), 7);
	close(fd);
	c = open_cursor();
	CU_ASSERT_EQUAL(cursor_rows(c), 0);
	CU_ASSERT_EQUAL(cursor_wave(c, 1, true, 0), CURSOR_NEVER);
	cursor_close(c, false);
}

static void in_memory(void)
{
	struct error e;
	struct cursor *c = cursor_open(NULL, id, "w0", NULL, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	for (uint32_t i = 0; i < 500; i++)
		CU_ASSERT_EQUAL(add_row(c, i, 0), i);
	CU_ASSERT_EQUAL(add_row(c, 77, 0), 77);
	cursor_close(c, true);
}

static void no_folder(void)
{
	struct error e;

	CU_ASSERT_PTR_NULL(cursor_open("/nonexistent/folder", id, "w0", NULL, &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "/nonexistent/folder"));
}

static void one_scope_alone_has_the_file(void)
{
	struct cursor *c = open_cursor();
	struct error e = {""};

	add_row(c, 0, 0);
	make_wave(c, 1, 0, 3);
	errno = 0;
	CU_ASSERT_PTR_NULL(cursor_open(dir, id, "w0", NULL, &e));
	CU_ASSERT_EQUAL(errno, EWOULDBLOCK);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "another scope with the same id has"));
	CU_ASSERT_PTR_NULL(strstr(e.text, "free some"));
	/* it goes on, and leaves its positions to whoever comes next */
	make_wave(c, 2, 1, 4);
	cursor_close(c, true);
	c = open_cursor();
	CU_ASSERT_TRUE(cursor_resumed(c));
	CU_ASSERT_EQUAL(cursor_wave(c, 2, true, 1), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_end(c, 0), 7);
	cursor_close(c, false);
}

/* ---- files that others change ---- */

static const char *path_of(char path[256])
{
	snprintf(path, 256, "%s/%s.w0.cursor", dir, "30313233343536373839616263646500");
	return path;
}

/* What is counted is in memory: a file that is cut short takes nothing away, and nobody down. */
static void cut_while_it_is_open(void)
{
	struct cursor *c = open_cursor();
	char path[256];

	for (uint32_t i = 0; i < 100; i++)
		add_row(c, i, 7);
	make_wave(c, 1, 0, 3);
	CU_ASSERT_EQUAL_FATAL(truncate(path_of(path), 0), 0);
	CU_ASSERT_EQUAL(cursor_wave(c, 1, true, 0), CURSOR_AGAIN);
	CU_ASSERT_EQUAL(cursor_from(c, 99), 7);
	CU_ASSERT_EQUAL(cursor_end(c, 99), 10);
	for (uint32_t i = 100; i < 200; i++)
		add_row(c, i, 0);
	make_wave(c, 2, 0, 3);
	CU_ASSERT_EQUAL(position(c, 99), 13);
	cursor_close(c, true);
	/* lines are lost with it: it is not taken for sound */
	c = open_cursor();
	CU_ASSERT_FALSE(cursor_resumed(c));
	CU_ASSERT_EQUAL(cursor_rows(c), 0);
	cursor_close(c, false);
}

/* Each word of a file in turn is another one: it is resumed sound or not at all. */
static void changed_words(void)
{
	const uint64_t wrong[] = {0, 1, UINT32_MAX, UINT64_MAX};
	unsigned char good[4096];
	char path[256];
	struct cursor *c = open_cursor();
	ssize_t n;
	int fd;

	add_row(c, 0, 7);
	add_row(c, 1, 0);
	make_wave(c, 1, 0, 3);
	cursor_close(c, true);
	fd = open(path_of(path), O_RDONLY);
	n = read(fd, good, sizeof(good));
	CU_ASSERT_FATAL(n > 1152);
	close(fd);
	for (size_t at = 0; at < 1152; at += 8)
		for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
			CU_ASSERT_EQUAL(write(fd, good, (size_t)n), n);
			CU_ASSERT_EQUAL(pwrite(fd, &wrong[i], 8, (off_t)at), 8);
			CU_ASSERT_EQUAL(ftruncate(fd, 70000), 0);
			close(fd);
			c = open_cursor();
			for (uint32_t row = 0; row < cursor_rows(c); row++)
				if (cursor_wave(c, 1, true, 0) == CURSOR_AGAIN)
					CU_ASSERT(cursor_from(c, row) <= cursor_end(c, row));
			add_row(c, 5, 0);
			CU_ASSERT_EQUAL(position(c, cursor_rows(c) - 1), 0);
			cursor_close(c, true);
		}
	unlink(path);
}

/* Agents once noted in a row's last words that its rank had moved, and where it goes on was in
 * another file. */
static void moved_by_an_older_agent(void)
{
	const uint64_t moved = 1;
	struct cursor *c = open_cursor();
	char path[256];
	int fd;

	add_row(c, 0, 7);
	make_wave(c, 1, 0, 3);
	cursor_close(c, true);
	fd = open(path_of(path), O_WRONLY);
	CU_ASSERT_EQUAL(pwrite(fd, &moved, 8, 1024 + 48), 8);
	close(fd);
	c = open_cursor();
	CU_ASSERT_FALSE(cursor_resumed(c));
	cursor_close(c, false);
}

static void no_room(void)
{
	const struct rlimit none = {0, RLIM_INFINITY};
	struct cursor *c = open_cursor();
	struct rlimit was;
	struct error e;

	getrlimit(RLIMIT_FSIZE, &was);
	signal(SIGXFSZ, SIG_IGN);
	add_row(c, 0, 0);
	make_wave(c, 1, 0, 3);
	setrlimit(RLIMIT_FSIZE, &none);
	CU_ASSERT_EQUAL(cursor_wave(c, 2, false, 0), CURSOR_NEW);
	cursor_to(c, 0, 9);
	CU_ASSERT_EQUAL(cursor_commit(c), -1);
	CU_ASSERT_EQUAL(errno, EFBIG);
	CU_ASSERT_PTR_NULL(
		cursor_open(dir, (const unsigned char *)"another scope id", "w0", NULL, &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "free some space"));
	setrlimit(RLIMIT_FSIZE, &was);
	/* it was not: the next one reads on from where the last one stood */
	CU_ASSERT_EQUAL(cursor_wave(c, 2, true, 0), CURSOR_NEVER);
	CU_ASSERT_EQUAL(cursor_wave(c, 3, false, 0), CURSOR_NEW);
	CU_ASSERT_EQUAL(cursor_from(c, 0), 3);
	cursor_close(c, false);
}

static void small_until_read(void)
{
	struct cursor *c = open_cursor();
	char path[256];
	struct stat st;

	for (uint32_t i = 0; i < 40; i++)
		add_row(c, i, 9);
	CU_ASSERT_EQUAL(cursor_sync(c), 0);
	cursor_close(c, true);
	CU_ASSERT_EQUAL(stat(path_of(path), &st), 0);
	CU_ASSERT(st.st_blocks * 512 <= 8192);
	c = open_cursor();
	CU_ASSERT_TRUE(cursor_resumed(c));
	CU_ASSERT_EQUAL(position(c, 39), 9);
	cursor_close(c, false);
}

int main(void)
{
	CU_TestInfo files[] = {
		{"a file that is cut while it is open", cut_while_it_is_open},
		{"each word changed in turn", changed_words},
		{"an older agent had moved a rank", moved_by_an_older_agent},
		{"without room a wave is none, and that is said", no_room},
		{"a file of which nothing was read is small", small_until_read},
		CU_TEST_INFO_NULL,
	};
	CU_TestInfo cases[] = {
		{"a wave asked for again has the same range", again_is_the_same},
		{"cursors survive the agent, a wave in the making does not", survives_the_agent},
		{"a wave that was said never to have been never is", told_once},
		{"a range is held until the consumer has it", holds_until_had},
		{"ranges join without a gap", ranges_join},
		{"one scope alone has the file", one_scope_alone_has_the_file},
		{"a damaged file is begun anew", other_files_are_begun_anew},
		{"without a file: only the numbering of rows", in_memory},
		{"a folder that is not there is named", no_folder},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {
		{.pName = "cursor", .pInitFunc = setup, .pTests = cases},
		{.pName = "files", .pCleanupFunc = teardown, .pTests = files},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
