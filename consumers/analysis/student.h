/* SPDX-License-Identifier: BSD-3-Clause */
/* Student's t: how unlikely a value is, by the mean and the spread of few others. Pure. */
#ifndef EVSPACE_STUDENT_H
#define EVSPACE_STUDENT_H

/** The probability that Student's t with @freedom degrees of freedom (1 at least) is beyond @t on
 * either side (Abramowitz, Stegun: 26.7.3 and 26.7.4). */
double student_beyond(double t, unsigned freedom);

/** The probability that one more of normal values like the @n (2 at least) with this @mean, and
 * this sum of @squares of differences from it, is as far from the mean as @value on either side.
 * What differs from values without a spread has 0, what is the mean 1. */
double student_unlike(double value, double mean, double squares, unsigned n);

#endif
