/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests tables: as printf writes them where any width does, and what gives way on a terminal. */
#include "pathmap/base/table.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define COLUMNS 4

static const struct table_column columns[COLUMNS] = {
	{.parts = 2},
	{.pad = 6, .gap = 1, .drop = 1},
	{.least = 8, .drop = 2},
	{.least = 16, .wraps = true},
};

static void table_fill(struct table *t)
{
	static const char *const cells[][COLUMNS] = {
		{"thread", "rate", "does", ""},
		{"/cluster/node7/rank12/t0", "123", "MPI_Recv from rank 3", "waits for rank 3"},
		{"/cluster/node7/rank3/t0", "1 234", "MPI_Send", ""},
	};

	table_init(t, COLUMNS);
	t->columns = columns;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		for (size_t k = 0; k < COLUMNS; k++)
			table_cell(t, "%s", cells[i][k]);
}

static void check_text(const struct table *t, size_t width, const char *want)
{
	char *text = table_text(t, width);

	CU_ASSERT_STRING_EQUAL(text, want);
	if (strcmp(text, want) != 0)
		tap_note("%zu characters:\n%s", width, text);
	free(text);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	for (size_t length; *text != '\0'; text += length + 1) {
		length = strcspn(text, "\n");
		longest = length > longest ? length : longest;
	}
	return longest;
}

static void any_width(void)
{
	struct table t;

	table_fill(&t);
	table_line(&t, "  a line as long as it is");
	check_text(&t, 0,
		   "thread                     rate  does\n"
		   "/cluster/node7/rank12/t0    123  MPI_Recv from rank 3  waits for rank 3\n"
		   "/cluster/node7/rank3/t0   1 234  MPI_Send\n"
		   "  a line as long as it is\n");
	table_fini(&t);
}

static void wider_than_its_pad(void)
{
	static const struct table_column two[] = {{.pad = -3}, {.pad = 3, .gap = 1}};
	struct table t;

	table_init(&t, 2);
	t.columns = two;
	table_cell(&t, "longer");
	table_cell(&t, "1");
	table_cell(&t, "a");
	table_cell(&t, "12345");
	check_text(&t, 0, "longer     1\na      12345\n");
	check_text(&t, 40, "longer     1\na      12345\n");
	table_fini(&t);
}

static void texts_are_cut_first(void)
{
	struct table t;

	table_fill(&t);
	check_text(&t, 60,
		   "thread             rate  does\n"
		   "..node7/rank12/t0   123  MPI_Recv from r..  waits for rank 3\n"
		   "../node7/rank3/t0 1 234  MPI_Send\n");
	table_fini(&t);
}

static void columns_are_left_out_next(void)
{
	struct table t;

	table_fill(&t);
	check_text(&t, 42,
		   "thread        does\n"
		   "../rank12/t0  MPI_Recv..  waits for rank 3\n"
		   "..7/rank3/t0  MPI_Send\n");
	check_text(&t, 36,
		   "thread\n"
		   "../node7/rank12/t0  waits for rank 3\n"
		   "..r/node7/rank3/t0\n");
	table_fini(&t);
}

static void what_must_stay_stays(void)
{
	struct table t;

	table_fill(&t);
	for (size_t width = 30; width < 100; width++) {
		char *text = table_text(&t, width);

		CU_ASSERT(longest_line(text) <= width);
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "/rank12/t0"));
		CU_ASSERT_PTR_NOT_NULL(strstr(text, "waits for rank 3"));
		free(text);
	}
	table_fini(&t);
}

static void the_verdict_goes_on(void)
{
	struct table t;

	table_init(&t, COLUMNS);
	t.columns = columns;
	table_cell(&t, "/a/b/rank1/t0");
	table_cell(&t, "1");
	table_cell(&t, "MPI_Wait");
	table_cell(&t, "waits for rank 3, which is dead");
	table_line(&t, "  and one more line that is too long");
	check_text(&t, 32,
		   "/a/b/rank1/t0  waits for rank 3,\n"
		   "               which is dead\n"
		   "  and one more line that is too\n"
		   "    long\n");
	table_fini(&t);
}

/* A row goes on until the longest of its texts is said. */
static void any_column_goes_on(void)
{
	static const struct table_column three[] = {
		{.least = 8, .wraps = true}, {.pad = 4}, {.least = 10, .wraps = true}};
	struct table t;

	table_init(&t, 3);
	t.columns = three;
	table_cell(&t, "p2p collective wait");
	table_cell(&t, "200");
	table_cell(&t, "trace: every event");
	table_cell(&t, "io");
	table_cell(&t, "4000");
	table_cell(&t, "count");
	check_text(&t, 30,
		   "p2p           200  trace:\n"
		   "collective         every event\n"
		   "wait\n"
		   "io           4000  count\n");
	check_text(&t, 0,
		   "p2p collective wait   200  trace: every event\n"
		   "io                   4000  count\n");
	table_fini(&t);
}

static void check_tail(const char *path, size_t width, const char *want)
{
	char *tail = table_tail(path, width, 2);

	CU_ASSERT_STRING_EQUAL(tail, want);
	free(tail);
}

static void paths_have_tails(void)
{
	check_tail("/a/b/rank1/t0", 13, "/a/b/rank1/t0");
	check_tail("/a/b/rank1/t0", 12, "..b/rank1/t0");
	check_tail("/a/b/rank1/t0", 0, "../rank1/t0");
	check_tail("/rank1/t0", 2, "/rank1/t0");
	check_tail("t0", 1, "t0");
}

static void characters_not_bytes(void)
{
	static const struct table_column cut[] = {{.least = 4}, {.pad = 2}};
	struct table t;

	table_init(&t, 2);
	t.columns = cut;
	table_cell(&t, "äöüäöüäöü");
	table_cell(&t, "1");
	check_text(&t, 10, "äöüäö..  1\n");
	table_fini(&t);
	CU_ASSERT_EQUAL(table_break("ää öö", 4), strlen("ää"));
	CU_ASSERT_EQUAL(table_break("äää", 2), strlen("ää"));
	CU_ASSERT_EQUAL(table_break("ab cd", 0), 5);
}

static CU_TestInfo table_cases[] = {
	{"any width: as printf pads", any_width},
	{"texts wider than their padding", wider_than_its_pad},
	{"texts are cut first, paths from the front", texts_are_cut_first},
	{"columns of least use are left out next", columns_are_left_out_next},
	{"no line is too long, rank, thread and verdict stay", what_must_stay_stays},
	{"what wraps goes on in the next line", the_verdict_goes_on},
	{"so may any column", any_column_goes_on},
	{"of a path that is cut the last parts stay", paths_have_tails},
	{"characters are counted, not bytes", characters_not_bytes},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "table", .pTests = table_cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
