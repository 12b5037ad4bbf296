/* SPDX-License-Identifier: BSD-3-Clause */
/* The oracle: what tests/writer has written into segments, as tests/checker must see it. */
#ifndef EVSPACE_TESTS_TRUTH_H
#define EVSPACE_TESTS_TRUTH_H

#include <stddef.h>
#include <stdint.h>

#include "node-agent/segment/segment.h"
#include "pathmap/base/error.h"

/** Bytes of the @n-th tuple that rank @rank writes into its only element. */
uint64_t oracle_bytes(int rank, uint64_t n);

/** Figures of many tuples' bytes. The squares are a sum of doubles. */
struct oracle {
	uint64_t count, sum;
	double squares;
};

/** Add one value; take @count tuples of @rank from number @from on. */
void oracle_add(struct oracle *t, uint64_t bytes);
void oracle_take(struct oracle *t, int rank, uint64_t from, uint64_t count);

/** The variance of the values, 0 of none. */
double oracle_variance(const struct oracle *t);

/** The element of a rank, in its segment. */
struct oracle_element {
	struct segment segment;
	const struct element_ring *ring;
	uint64_t capacity;
};

/** Open the segment of @rank in the folder of a run. Returns 0, or -1 with @e. */
int oracle_open(struct oracle_element *t, const char *folder, int rank, struct error *e);
void oracle_close(struct oracle_element *t);

/** How many tuples were written so far. */
uint64_t oracle_written(const struct oracle_element *t);

/** Read the first @end tuples, which are written, into @oracle. Returns 0, or -1 with @e when some
 * are not what was to be written, or not there any more. */
int oracle_read(const struct oracle_element *t, int rank, uint64_t end, struct oracle *oracle,
		struct error *e);

#endif
