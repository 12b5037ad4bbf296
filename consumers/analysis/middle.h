/* SPDX-License-Identifier: BSD-3-Clause */
/* The middle: the median of values that stream by, in little memory: exact of the first 128, then
 * within 1 %, by how many have about the same logarithm. Pure. */
#ifndef EVSPACE_MIDDLE_H
#define EVSPACE_MIDDLE_H

#include <stdint.h>

/** What is known of the values. Zeroed: no value yet. */
struct middle {
	uint64_t n;
	double *values;		/* all, as long as these are few */
	uint32_t *counts;	/* else how many there are from (from + i) / 50 on, … */
	int32_t from, n_counts; /* … of asinh(3), which is a logarithm on either side of 0 */
};

/** Free its memory. */
void middle_fini(struct middle *middle);

void middle_add(struct middle *middle, double value);

/** 0 if there is no value. */
double middle_value(const struct middle *middle);

#endif
