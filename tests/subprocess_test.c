/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests programs that are run for what they print: none is waited for beyond its time. */
#include "consumers/cli/subprocess.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "tree/data/clock.h"

static char *sh(char *script, unsigned seconds, struct error *e)
{
	char program[] = "sh", flag[] = "-c";
	char *argv[] = {program, flag, script, NULL};

	return subprocess_run(argv, seconds, e);
}

static void prints(void)
{
	char fine[] = "echo a; echo b >&2", bad[] = "echo a; echo b >&2; exit 1";
	struct error e = {""};
	char *text = sh(fine, 60, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, "a\n");
	free(text);
	CU_ASSERT_PTR_NULL(sh(bad, 60, &e));
	CU_ASSERT_STRING_EQUAL(e.text, "b");
}

static void ends(char *script)
{
	uint64_t begin = clock_mono_ns();
	struct error e = {""};

	CU_ASSERT_PTR_NULL(sh(script, 1, &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "has not ended within 1 s"));
	CU_ASSERT_TRUE(clock_mono_ns() - begin < (uint64_t)30 * 1000000000);
}

static void takes_long(void)
{
	char quiet[] = "exec sleep 100", closed[] = "exec sleep 100 >&- 2>&-";

	ends(quiet);
	ends(closed);
}

static CU_TestInfo errand_cases[] = {
	{"what it prints, and why it failed", prints},
	{"it is killed in time, also when it has closed its pipes", takes_long},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "errand", .pTests = errand_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
