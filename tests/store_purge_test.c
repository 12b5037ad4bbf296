/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the store refuses, what it removes, and how it sums runs up. */
#include "node-agent/store/cursor.h"
#include "node-agent/store/store-run.h"
#include "node-agent/store/store.h"
#include "tests/tap.h"
#include "tests/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* ---- what is no good ---- */

static void garbage(void)
{
	const struct store_refusal *r;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char path[300], text[9000];
	unsigned n = 0;
	int fd;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	fixture_file("one", "rank0.1.seg", "");
	fixture_file("one", "rank1.1.seg", text);
	fixture_file("one", "rank2.1.refused-no-space", "");
	fixture_file("one", "rank3.1.refused-quota", "");
	fixture_file("one", "rank3.1.tmp", text);
	fixture_file("one", "0123.w0.cursor", "");
	fixture_file("one", "notes.txt", "mine");
	snprintf(path, sizeof(path), "%s/one/rank4.1.seg", fixture.base);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/one/rank5.1.seg", fixture.base);
	CU_ASSERT_EQUAL(symlink("rank1.1.seg", path), 0);
	snprintf(path, sizeof(path), "%s/one/rank6.1.seg", fixture.base);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s/a.sock", fixture.base);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	fixture_start(true);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	TAILQ_FOREACH (r, &fixture.store.refusals, link) {
		tap_note("%s", r->text);
		n++;
	}
	CU_ASSERT_EQUAL(n, 7);
	CU_ASSERT_PTR_NOT_NULL(fixture_refusal("rank1.1.seg"));
	CU_ASSERT_PTR_NOT_NULL(fixture_refusal("rank 2 (pid 1)"));
	CU_ASSERT_PTR_NOT_NULL(fixture_refusal("quota"));
	/* Once a file, however often one looks. */
	fixture_file("one", "rank7.1.refused-denied", "");
	CU_ASSERT_TRUE(fixture_readable(fixture.store.inotify));
	CU_ASSERT_EQUAL(store_refresh(&fixture.store), 0);
	n = 0;
	TAILQ_FOREACH (r, &fixture.store.refusals, link)
		n++;
	CU_ASSERT_EQUAL(n, 8);
	close(fd);
}

static void truncated_later(void)
{
	pid_t m = maker_start("one", 0, 7);
	struct store_run *runs;
	char path[400];

	fixture_start(true);
	CU_ASSERT_EQUAL_FATAL(fixture_count(), 1);
	snprintf(path, sizeof(path), "%s/one/%s", fixture.base, fixture_find("rank0")->file);
	CU_ASSERT_EQUAL(truncate(path, 0), 0);
	CU_ASSERT_EQUAL_FATAL(store_runs(&fixture.store, &runs), 1);
	CU_ASSERT_EQUAL(runs[0].processes, 1);
	free(runs);
	(void)store_check_alive(fixture_find("rank0"));
	maker_end(m);
}

static void foreign_owner(void)
{
	pid_t m;
	char path[400];
	struct error e = {""};

	if (geteuid()) {
		tap_skip("only root can give files away");
		return;
	}
	m = maker_start("mine", 0, 0);
	fixture_start(false);
	CU_ASSERT_EQUAL_FATAL(fixture_count(), 1);
	snprintf(path, sizeof(path), "%s/mine/%s", fixture.base, fixture_find("rank0")->file);
	store_fini(&fixture.store);
	CU_ASSERT_EQUAL(chown(path, 12345, (gid_t)-1), 0);
	fixture_start(false);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	CU_ASSERT_PTR_NOT_NULL(fixture_refusal("12345"));
	store_fini(&fixture.store);
	CU_ASSERT_EQUAL(chown(path, 0, (gid_t)-1), 0);
	snprintf(path, sizeof(path), "%s/mine", fixture.base);
	CU_ASSERT_EQUAL(chown(path, 12345, (gid_t)-1), 0);
	fixture_start(false);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	CU_ASSERT_PTR_NOT_NULL(fixture_refusal("another user"));
	store_purge(&fixture.store, NULL, 0, true);
	CU_ASSERT_TRUE(fixture_exists("mine"));
	store_fini(&fixture.store);
	CU_ASSERT_EQUAL(chown(fixture.base, 12345, (gid_t)-1), 0);
	CU_ASSERT_EQUAL(store_init(&fixture.store, fixture.base, true, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "another user"));
	maker_end(m);
}

static void open_to_others(void)
{
	struct error e = {""};

	mkdir(fixture.base, 0700);
	chmod(fixture.base, 0777);
	CU_ASSERT_EQUAL(store_init(&fixture.store, fixture.base, true, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "chmod go-w"));
}

static void base_is_link(void)
{
	struct error e = {""};

	CU_ASSERT_EQUAL(symlink(fixture.top, fixture.base), 0);
	CU_ASSERT_EQUAL(store_init(&fixture.store, fixture.base, false, &e), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "real folder"));
}

static void base_from_environment(void)
{
	char buf[256], expected[64], *longer;
	struct error e = {""};

	unsetenv("EVSPACE_DIR");
	snprintf(expected, sizeof(expected), "/dev/shm/evspace-%u", (unsigned)geteuid());
	CU_ASSERT_STRING_EQUAL(folder_base_path(buf, sizeof(buf), &e), expected);
	setenv("EVSPACE_DIR", "/dev/shm/x", 1);
	CU_ASSERT_STRING_EQUAL(folder_base_path(buf, sizeof(buf), &e), "/dev/shm/x");
	CU_ASSERT_PTR_NULL(folder_base_path(buf, 5, &e));
	longer = malloc(301);
	memset(longer, 'x', 300);
	longer[300] = 0;
	setenv("EVSPACE_DIR", longer, 1);
	CU_ASSERT_PTR_NULL(folder_base_path(buf, sizeof(buf), &e));
	CU_ASSERT_EQUAL(store_init(&fixture.store, longer, false, &e), -1);
	free(longer);
	unsetenv("EVSPACE_DIR");
}

/* ---- purge and sums ---- */

/* What a file says itself of when it was used counts, not what a clock was set to since. */
static void a_clock_that_is_set(void)
{
	const struct timespec old[] = {{.tv_sec = 1}, {.tv_sec = 1}};
	const struct cursor_owner owner = {.peer = "alice", .keep_ns = UINT64_MAX};
	pid_t m = maker_start("one", 0, 0);
	unsigned char id[16] = "scope";
	char dir[400], path[500];
	struct cursor *c;

	fixture_start(false);
	snprintf(dir, sizeof(dir), "%s/one", fixture.base);
	c = cursor_open(dir, id, "w0", &owner, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	cursor_close(c, true);
	snprintf(path, sizeof(path), "%s/73636f70650000000000000000000000.w0.cursor", dir);
	CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, old, 0), 0);
	store_purge(&fixture.store, NULL, 3600000000000u, false);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	store_purge(&fixture.store, NULL, 0, false);
	CU_ASSERT_EQUAL(access(path, F_OK), -1);
	maker_end(m);
}

static void purge_spares_the_living(void)
{
	pid_t a = maker_start("one", 0, 0), b = maker_start("one", 1, 0);

	fixture_start(false);
	maker_end(a);
	CU_ASSERT_TRUE(store_purge(&fixture.store, NULL, 0, false) > 0);
	CU_ASSERT_EQUAL(fixture_count(), 1);
	CU_ASSERT_PTR_NOT_NULL(fixture_find("rank1"));
	CU_ASSERT_TRUE(fixture_exists("one"));
	CU_ASSERT_TRUE(store_purge(&fixture.store, "other", 0, true) == 0);
	CU_ASSERT_EQUAL(fixture_count(), 1);
	CU_ASSERT_TRUE(store_purge(&fixture.store, "one", 0, true) > 0);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	CU_ASSERT_FALSE(fixture_exists("one"));
	CU_ASSERT_EQUAL(kill(b, 0), 0);
	maker_end(b);
}

static void purge_by_age(void)
{
	pid_t m = maker_start("one", 0, 0);

	fixture_file("one", "01.w0.cursor", "x");
	fixture_start(false);
	maker_end(m);
	CU_ASSERT_FALSE(store_check_alive(fixture_find("rank0")));
	CU_ASSERT_EQUAL(store_purge(&fixture.store, NULL, 3600000000000u, false), 0);
	CU_ASSERT_EQUAL(fixture_count(), 1);
	CU_ASSERT_TRUE(store_purge(&fixture.store, NULL, 1, false) > 0);
	CU_ASSERT_EQUAL(fixture_count(), 0);
	CU_ASSERT_FALSE(fixture_exists("one"));
}

static void purge_what_nobody_owns(void)
{
	pid_t m = maker_start("one", 0, 0);
	char name[64];

	/* What a maker that is gone left half made; what one that lives is making. */
	maker_end(m);
	snprintf(name, sizeof(name), "rank1.%d.tmp", (int)m);
	fixture_file("one", name, "x");
	snprintf(name, sizeof(name), "rank1.%d.refused-quota", (int)m);
	fixture_file("one", name, "");
	snprintf(name, sizeof(name), "rank2.%d.tmp", (int)getpid());
	fixture_file("one", name, "x");
	fixture_file("one", "mine.txt", "x");
	fixture_start(false);
	/* nobody can read it: its age does not matter */
	store_purge(&fixture.store, NULL, UINT64_MAX, false);
	CU_ASSERT_FALSE(fixture_exists("one/rank1.%d.tmp", (int)m));
	CU_ASSERT_TRUE(fixture_exists("one/rank1.%d.refused-quota", (int)m));
	CU_ASSERT_TRUE(fixture_exists("one/rank2.%d.tmp", (int)getpid()));
	store_purge(&fixture.store, NULL, 0, false);
	CU_ASSERT_FALSE(fixture_exists("one/rank1.%d.refused-quota", (int)m));
	CU_ASSERT_TRUE(fixture_exists("one/rank2.%d.tmp", (int)getpid()));
	CU_ASSERT_TRUE(fixture_exists("one/mine.txt"));
	store_purge(&fixture.store, NULL, 0, true);
	CU_ASSERT_FALSE(fixture_exists("one/rank2.%d.tmp", (int)getpid()));
	CU_ASSERT_TRUE(fixture_exists("one/mine.txt"));
}

static void purge_leaves_a_starting_run(void)
{
	char path[300];

	fixture_start(true);
	snprintf(path, sizeof(path), "%s/starting", fixture.base);
	mkdir(path, 0700);
	store_purge(&fixture.store, NULL, 0, false);
	CU_ASSERT_TRUE(fixture_exists("starting"));
	store_purge(&fixture.store, NULL, 0, true);
	CU_ASSERT_FALSE(fixture_exists("starting"));
}

static void runs_summed(void)
{
	pid_t a = maker_start("one", 0, 5), b = maker_start("one", 1, 7);
	pid_t c = maker_start("two", 0, 11);
	struct store_run *runs;

	fixture_file("three", "rank0.1.refused-no-space", "");
	maker_end(c);
	fixture_start(false);
	CU_ASSERT_EQUAL_FATAL(store_runs(&fixture.store, &runs), 3);
	CU_ASSERT_STRING_EQUAL(runs[0].name, "three");
	CU_ASSERT_EQUAL(runs[0].processes, 0);
	CU_ASSERT_STRING_EQUAL(runs[1].name, "one");
	CU_ASSERT_EQUAL(runs[1].processes, 2);
	CU_ASSERT_EQUAL(runs[1].alive, 2);
	CU_ASSERT_EQUAL(runs[1].events, 12);
	CU_ASSERT_EQUAL(runs[1].overflowed, 0);
	CU_ASSERT_EQUAL(runs[1].world_size, 5);
	CU_ASSERT_EQUAL(runs[1].idle_ns, 0);
	CU_ASSERT_TRUE(runs[1].bytes > 0);
	CU_ASSERT_STRING_EQUAL(runs[2].name, "two");
	CU_ASSERT_EQUAL(runs[2].alive, 0);
	CU_ASSERT_EQUAL(runs[2].events, 11);
	free(runs);
	maker_end(a);
	maker_end(b);
}

static CU_TestInfo refusal_cases[] = {
	{"garbage is refused, with the reason, once", garbage},
	{"a file truncated later harms nobody", truncated_later},
	{"files and folders of others are refused", foreign_owner},
	{"a base that others may write to is refused", open_to_others},
	{"a base that is a link is refused", base_is_link},
	{"the base is EVSPACE_DIR, checked", base_from_environment},
	CU_TEST_INFO_NULL,
};

static CU_TestInfo purge_cases[] = {
	{"purge spares the living unless forced", purge_spares_the_living},
	{"a wall clock that is set makes no cursors old", a_clock_that_is_set},
	{"purge by age", purge_by_age},
	{"purge of what nobody owns", purge_what_nobody_owns},
	{"purge leaves a run that is starting", purge_leaves_a_starting_run},
	{"runs are summed up, oldest first", runs_summed},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "refusals",
		 .pTests = refusal_cases,
		 .pSetUpFunc = fixture_begin,
		 .pTearDownFunc = fixture_end},
		{.pName = "purge",
		 .pTests = purge_cases,
		 .pSetUpFunc = fixture_begin,
		 .pTearDownFunc = fixture_end},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
