/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the results of CUnit cases as TAP while they come in. */
#include "tests/tap.h"

#include <CUnit/TestRun.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* CUnit's handlers get no pointer of ours, so what they share has to be here. */
static unsigned tap_number;
static unsigned tap_failed;
static char tap_reason[256];

void tap_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(tap_reason, sizeof(tap_reason), format, args);
	va_end(args);
}

void tap_note(const char *format, ...)
{
	va_list args;

	fputs("# ", stdout);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void tap_print(bool ok, const CU_pSuite suite, const CU_pTest test)
{
	tap_number++;
	tap_failed += !ok;
	printf("%s %u - %s: %s", ok ? "ok" : "not ok", tap_number, suite->pName, test->pName);
	if (ok && tap_reason[0])
		printf(" # SKIP %s", tap_reason);
	putchar('\n');
	tap_reason[0] = 0;
}

static void tap_test_complete(const CU_pTest test, const CU_pSuite suite,
			      const CU_pFailureRecord failure)
{
	const CU_FailureRecord *f;

	for (f = failure; f; f = f->pNext)
		tap_note("%s:%u: %s", f->strFileName, f->uiLineNumber, f->strCondition);
	tap_print(!failure, suite, test);
}

/* CUnit runs no case of such a suite; the plan has them, and so must the answer. */
static void tap_suite_init_failed(const CU_pSuite suite)
{
	CU_pTest test;

	tap_note("%s: the suite's init function failed", suite->pName);
	for (test = suite->pTest; test; test = test->pNext)
		tap_print(false, suite, test);
}

static void tap_suite_cleanup_failed(const CU_pSuite suite)
{
	tap_failed++;
	tap_note("%s: the suite's cleanup function failed", suite->pName);
}

int tap_run(const CU_SuiteInfo *suites)
{
	/* CUnit takes the table as writable and does not write it. */
	CU_SuiteInfo *table = (CU_SuiteInfo *)suites;

	/* Whole lines: a child that a case forks must not print ours a second time. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(table) != CUE_SUCCESS) {
		printf("Bail out! CUnit: %s\n", CU_get_error_msg());
		return EXIT_FAILURE;
	}
	CU_set_test_complete_handler(tap_test_complete);
	CU_set_suite_init_failure_handler(tap_suite_init_failed);
	CU_set_suite_cleanup_failure_handler(tap_suite_cleanup_failed);
	printf("1..%u\n", CU_get_registry()->uiNumberOfTests);
	CU_run_all_tests();
	CU_cleanup_registry();
	return tap_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
