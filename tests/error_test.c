/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests error texts: formatting, prefixes, cutting, and errno kept. */
#include "pathmap/base/error.h"
#include "tests/tap.h"

#include <errno.h>
#include <string.h>

static void format_and_return(void)
{
	struct error e;

	CU_ASSERT_EQUAL(errorf(&e, "port %d in use", 7000), -1);
	CU_ASSERT_STRING_EQUAL(e.text, "port 7000 in use");
}

static void no_error_wanted(void)
{
	CU_ASSERT_EQUAL(errorf(NULL, "dropped"), -1);
	CU_ASSERT_EQUAL(error_prefix(NULL, "dropped"), -1);
}

static void prefix_in_front(void)
{
	struct error e;

	errorf(&e, "not a number");
	CU_ASSERT_EQUAL(error_prefix(&e, "%s:%d", "cluster.map", 3), -1);
	CU_ASSERT_STRING_EQUAL(e.text, "cluster.map:3: not a number");
}

static void cut_at_size(void)
{
	char longer[2 * sizeof(struct error)];
	struct error e;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = 0;
	errorf(&e, "%s", longer);
	CU_ASSERT_EQUAL(strlen(e.text), sizeof(e.text) - 1);
	error_prefix(&e, "front");
	CU_ASSERT_EQUAL(strlen(e.text), sizeof(e.text) - 1);
	CU_ASSERT_NSTRING_EQUAL(e.text, "front: xxx", 10);
}

static void one_line(void)
{
	struct error e;

	errorf(&e, "%s said \"%s\"", "b0", "no\nevspace agent: audit: \033[1mall is well");
	CU_ASSERT_STRING_EQUAL(e.text, "b0 said \"no?evspace agent: audit: ?[1mall is well\"");
	error_prefix(&e, "%s", "a\rb");
	CU_ASSERT_NSTRING_EQUAL(e.text, "a?b: b0 said", 12);
}

static void errno_kept(void)
{
	struct error e;

	errno = ENOSPC;
	errorf(&e, "%s", "text");
	CU_ASSERT_EQUAL(errno, ENOSPC);
	error_prefix(&e, "%s", "prefix");
	CU_ASSERT_EQUAL(errno, ENOSPC);
}

static CU_TestInfo error_cases[] = {
	{"formats and returns -1", format_and_return},
	{"NULL drops the text", no_error_wanted},
	{"prefix in front of the old text", prefix_in_front},
	{"one line, whatever is quoted", one_line},
	{"texts are cut at the size", cut_at_size},
	{"errno is kept", errno_kept},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "error", .pTests = error_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
