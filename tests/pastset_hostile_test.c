/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what the library of programs' elements makes of files that lie, and of its limits. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/pastset-bed.h"
#include "tests/tap.h"

/* Change @n bytes at @at of the file of @name. */
static void forge(const char *name, size_t at, const void *bytes, size_t n)
{
	char path[200];
	int fd;

	bed_path(name, path);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_EQUAL(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
	close(fd);
}

static void refused(const char *part)
{
	errno = 0;
	CU_ASSERT_PTR_NULL(bed_open("forged"));
	if (!strstr(bed_why, part)) {
		tap_note("%s", bed_why);
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
		{AT(name), 1, '/', "another name"},
		{AT(fields), 1, '9', "no type"},
		{AT(fields) + sizeof(LARGE) - 3, 1, '1', "does not follow"},
	};
	struct evspace_element *out = bed_make("forged", 10, 0);
	struct pastset_header right;
	char path[200], x[FIELDS_TEXT];
	int fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	evspace_element_close(out);
	bed_path("forged", path);
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
	out = bed_open("forged");
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
	struct evspace_element *out = bed_make("words", 4, 1), *in = bed_open("words");
	struct large t;

	CU_ASSERT_TRUE_FATAL(out && in);
	for (uint64_t n = 0; n < 3; n++)
		bed_put(out, n);
	CU_ASSERT_EQUAL(evspace_element_next(in, &t, NULL, 0), 1);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		for (unsigned part = 0; part < PASTSET_READERS; part++)
			forge("words", PASTSET_READERS_AT + part * sizeof(struct pastset_reader),
			      &values[i], sizeof(values[i]));
		for (uint64_t n = 0; n < 20; n++)
			(void)bed_put(out, n);
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
	CU_ASSERT_PTR_NULL(bed_make("words", 4, 1));
	CU_ASSERT_EQUAL(errno, EIO);
	evspace_element_close(in);
}

static void limits_are_said(void)
{
	struct evspace_element_plan plan = {
		.name = "huge", .fields = LARGE, .capacity = PASTSET_CAPACITY_MAX + 1};

	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EINVAL);
	setenv("EVSPACE_QUOTA", "1M", 1);
	plan.capacity = 100000;
	CU_ASSERT_PTR_NULL(evspace_element_make(&plan, bed_why, sizeof(bed_why)));
	CU_ASSERT_EQUAL(errno, EDQUOT);
	CU_ASSERT_PTR_NOT_NULL(strstr(bed_why, "the quota is"));
	unsetenv("EVSPACE_QUOTA");
	CU_ASSERT_EQUAL(bed_written("huge"), 0);
	errno = 0;
	CU_ASSERT_PTR_NULL(bed_open("huge"));
	CU_ASSERT_EQUAL(errno, ENOENT);
}

static CU_TestInfo hostile_cases[] = {
	{"headers that lie, files that are cut", forged_headers},
	{"words that lie", forged_words},
	{"limits are said", limits_are_said},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "pastset hostile", .pTests = hostile_cases},
		CU_SUITE_INFO_NULL,
	};

	return bed_run(suites);
}
