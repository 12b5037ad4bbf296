/* SPDX-License-Identifier: BSD-3-Clause */
/* The ground of the tests of programs' elements: a folder, and tuples whose words follow from their
 * numbers. */
#ifndef EVSPACE_TESTS_PASTSET_BED_H
#define EVSPACE_TESTS_PASTSET_BED_H

#include <CUnit/CUnit.h>
#include <stdbool.h>
#include <stdint.h>

#include "node-agent/pastset/evspace-element.h"
#include "node-agent/pastset/pastset-layout.h"

/** All that a tuple may have. */
struct large {
	uint64_t word[FIELDS_BYTES / 8];
};

#define LARGE "word u64[32]"

/** Fields of several kinds. */
struct step {
	uint64_t iteration;
	double residual;
	int32_t rank;
	char phase[9];
};

#define STEP "iteration u64, residual f64, rank i32, phase text[9]"

/** What the library said last. */
extern char bed_why[300];

/** Run the cases in a new folder of runs, in the run "run". Returns what main() should. */
int bed_run(const CU_SuiteInfo *suites);

/** Open the element @name of large tuples to write, or any to read; NULL with bed_why. */
struct evspace_element *bed_make(const char *name, uint32_t capacity, int wait_ms);
struct evspace_element *bed_open(const char *name);

/** Write large tuple @n; is @t that? */
int bed_put(struct evspace_element *e, uint64_t n);
bool bed_is_whole(const struct large *t, uint64_t n);

/** How many tuples were written to the element @name. */
uint64_t bed_written(const char *name);

/** The path of its file. Returns @path. */
const char *bed_path(const char *name, char path[200]);

#endif
