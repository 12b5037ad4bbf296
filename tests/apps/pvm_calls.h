/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of tests/apps/pvm_calls; all check what they get, and count their calls. */
#ifndef EVSPACE_PVM_CALLS_TEST_H
#define EVSPACE_PVM_CALLS_TEST_H

#include <stdio.h>

#include <pvm3.h>

#include "tests/apps/pvm_counts.h"

/** Who takes part: this task is tids[me]; 0 is the one that was started from the shell. */
struct party {
	const char *dir;
	int n, me, rounds;
	int tids[16];
};

/** End the whole task with a message when @oracle is not so. */
#define CHECK(oracle) check_is((oracle), #oracle, __FILE__, __LINE__)

void check_is(int oracle, const char *what, const char *file, int line);

/** What came out of all of it: sums that do not depend on who is faster. Printed at the end. */
extern uint64_t checksum;

void part_messages(const struct party *p);
void part_packing(const struct party *p);
void part_groups(const struct party *p);
void part_tasks(const struct party *p);

#endif
