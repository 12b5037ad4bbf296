/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which parts of `#if` are chosen by macros, and that nothing behind a line is read. */
#include "consumers/code/fortran-macros.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/tap.h"

/* The line ends where what may be read does. */
static int holds(const struct fortran_macros *macros, const char *line)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), n = strlen(line) + 1;
	/* cppcheck-suppress invalidFunctionArg ; anonymous memory */
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int held;

	CU_ASSERT_FATAL(at != MAP_FAILED && n <= page);
	CU_ASSERT_FATAL(mprotect(at + page, page, PROT_NONE) == 0);
	held = fortran_macros_hold(macros, memcpy(at + page - n, line, n));
	munmap(at, 2 * page);
	return held;
}

static void lines_that_end_early(void)
{
	static const char *const lines[] = {
		"if (defined(A",   "if (defined (",  "if defined(", "if (defined",
		"if ((A",	   "if !(defined(A", "if (",	    "if A &&",
		"elif (defined(A", "ifdef",	     "if (B",	    "if /*",
		"if (defined(/*",  "if -",	     "if",
	};
	struct fortran_macros *macros = fortran_macros_new("-DA -DB=(defined(A");

	/* what is not understood is compiled */
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CU_ASSERT(holds(macros, lines[i]) == (strcmp(lines[i], "ifdef") != 0));
	fortran_macros_free(macros);
}

/* As a preprocessor has it. */
static void what_does_not_matter(void)
{
	struct fortran_macros *macros = fortran_macros_new("-DONE=1 -DBY=(8/NONE)");

	CU_ASSERT(!holds(macros, "if defined(NONE) && 8 / NONE > 2"));
	CU_ASSERT(!holds(macros, "if 0 && BY"));
	CU_ASSERT(holds(macros, "if ONE || 8 % NONE"));
	CU_ASSERT(!holds(macros, "if (ONE || 8 / NONE) && 0"));
	/* here it does, so nobody knows */
	CU_ASSERT(holds(macros, "if 8 / NONE && 0"));
	CU_ASSERT(holds(macros, "if ONE && 8 / NONE"));
	fortran_macros_free(macros);
}

static void types(void)
{
	static const char *const are[] = {"INT2 a", "INT2(3)", "ALSO x", "SAID x", "KIND::x"};
	static const char *const others[] = {"integer a", "INT a",   "NUMBER x", "INT2A x",
					     "LOOP x",	  "EMPTY x", "",	 "CALL x"};
	struct fortran_macros *macros = fortran_macros_new(
		"-DINT2=integer*2 -DALSO=INT2 -DNUMBER=real_part -DLOOP=LOOP -DEMPTY= -DCALL(x)=3");

	fortran_macros_take(macros, "define SAID  /* of the source */ Double Precision");
	fortran_macros_take(macros, "define KIND REAL(kind=8)");
	for (size_t i = 0; i < sizeof(are) / sizeof(are[0]); i++)
		CU_ASSERT(fortran_macros_type(macros, are[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		CU_ASSERT(!fortran_macros_type(macros, others[i]));
	fortran_macros_free(macros);
}

static CU_TestInfo cases[] = {
	{"lines that end early", lines_that_end_early},
	{"what does not matter is not taken for wrong", what_does_not_matter},
	{"macros that stand for types", types},
	CU_TEST_INFO_NULL,
};

int main(void)
{
	static const CU_SuiteInfo suites[] = {
		{.pName = "fortran macros", .pTests = cases},
		CU_SUITE_INFO_NULL,
	};

	return tap_run(suites);
}
