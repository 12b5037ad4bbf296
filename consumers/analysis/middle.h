/* SPDX-License-Identifier: BSD-3-Clause */
/* The middle: about the median of values that stream by, in little memory: P-square (Jain and
 * Chlamtac, The P2 algorithm for dynamic calculation of quantiles, 1985) on their logarithms, as
 * few that are a hundred times as large as the others would move it else. Pure. */
#ifndef EVSPACE_MIDDLE_H
#define EVSPACE_MIDDLE_H

#include <stdint.h>

/** Least value, quartiles and largest one, as far as they are known. Zeroed: no value yet. */
struct middle {
	uint64_t n;
	double value[5]; /* asinh(3) of each, which is a logarithm on either side of 0 */
	double place[5]; /* how many values are below each, and it */
};

void middle_add(struct middle *middle, double value);

/** The median of all so far, exact of up to five; 0: there are none. */
double middle_value(const struct middle *middle);

#endif
