/* SPDX-License-Identifier: BSD-3-Clause */
/* The truth: what tests/writer has written into segments, as tests/witness must see it. */
#ifndef EVSPACE_TESTS_TRUTH_H
#define EVSPACE_TESTS_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "node-agent/segment.h"
#include "pathmap/error.h"

/** Bytes of the @n-th tuple that rank @rank writes into its only element. */
uint64_t truth_bytes(int rank, uint64_t n);

/** Figures of many tuples' bytes. The squares are a sum of doubles. */
struct truth {
	uint64_t count, sum;
	double squares;
};

/** Add one value; take @count tuples of @rank from number @from on. */
void truth_add(struct truth *t, uint64_t bytes);
void truth_take(struct truth *t, int rank, uint64_t from, uint64_t count);

/** The variance of the values, 0 of none. */
double truth_variance(const struct truth *t);

/** The element of a rank, in its segment. */
struct truth_element {
	struct segment segment;
	const struct element_ring *ring;
	uint64_t capacity;
};

/** Open the segment of @rank in the folder of a run. Returns 0, or -1 with @e. */
int truth_open(struct truth_element *t, const char *folder, int rank, struct error *e);
void truth_close(struct truth_element *t);

/** How many tuples were written so far. */
uint64_t truth_written(const struct truth_element *t);

/** Read all tuples that are there into @truth. Returns 0, or -1 with @e when some are not what was
 * to be written, or not there any more. */
int truth_read(const struct truth_element *t, int rank, struct truth *truth, struct error *e);

#endif
