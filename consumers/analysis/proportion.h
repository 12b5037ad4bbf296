/* SPDX-License-Identifier: BSD-3-Clause */
/* Proportions: how often something is the case, from how often it was. Pure. */
#ifndef EVSPACE_PROPORTION_H
#define EVSPACE_PROPORTION_H

#include <stdint.h>

/** A share of 1, and the interval that holds the true one. */
struct proportion {
	double share, low, high;
};

/** How many standard deviations away a normal value is at most, with @confidence (0.95). */
double proportion_deviations(double confidence);

/** @times of @n, with the confidence of @z standard deviations: Wilson's interval (Brown, Cai,
 * DasGupta, Interval estimation for a binomial proportion, 2001). Of none nothing is known: 0 to 1.
 */
struct proportion proportion_of(uint64_t times, uint64_t n, double z);

#endif
