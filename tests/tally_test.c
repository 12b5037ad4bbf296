/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests tallies: what an agent says of classes is shown, also of those that are not known here. */
#include "consumers/cli/tally.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

/* The table of these two, which the caller must free. */
static char *table_of(const char *one, const char *other)
{
	struct evspace_collected c = {
		.run = "r", .world = 1, .comm = 7, .mode = EVSPACE_TRACE, .processes = 2};
	struct classes *classes = classes_new();
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	c.channel = one;
	c.calls = 5;
	tally_add(classes, &c);
	c.channel = other;
	c.calls = 11;
	tally_add(classes, &c);
	tally_print(classes, "", 0, "", out);
	fclose(out);
	classes_free(classes);
	return text;
}

static void classes_are_shown(void)
{
	char *text = table_of("p2p", "collective");

	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\np2p@world"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\ncollective@world"));
	CU_ASSERT_PTR_NULL(strchr(text, '?'));
	free(text);
}

static void unknown_ones_are_named(void)
{
	char *text = table_of("p2p", "?"), *line = strstr(text, "\n?@world");

	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, " 11 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\np2p@world"));
	free(text);
	text = table_of("?", "?");
	line = strstr(text, "\n?@world");
	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	CU_ASSERT_PTR_NOT_NULL(strstr(line, " 16 "));
	free(text);
}

static CU_TestInfo tally_cases[] = {
	{"classes are shown", classes_are_shown},
	{"those of unknown groups are named, too", unknown_ones_are_named},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "tallies", .pTests = tally_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
