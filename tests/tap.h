/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets a CUnit program report in TAP, so that every case is a line of `make check`. */
#ifndef EVSPACE_TESTS_TAP_H
#define EVSPACE_TESTS_TAP_H

#include <CUnit/CUnit.h>

/**
 * Run all cases of @suites (ended by CU_SUITE_INFO_NULL; borrowed) and print TAP on stdout: the
 * plan, then `ok` or `not ok` per case, after `# file:line: condition` for each failed assertion.
 * A suite whose init fails makes all its cases fail. Returns what main() should return: 0 when
 * every case passed or was skipped, else 1. (testanything.org, TAP version 12; CUnit 2.1.)
 */
int tap_run(const CU_SuiteInfo *suites);

/**
 * Called within a case that cannot run here: reports it as skipped, with the reason @format says
 * (one line). The case should return right after; a failed assertion counts all the same.
 */
void tap_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Print one diagnostic line, `# text`, which `make check` puts into the log of the test. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
