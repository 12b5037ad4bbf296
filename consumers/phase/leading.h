/* SPDX-License-Identifier: BSD-3-Clause */
/* The largest eigenvalues of a large symmetric matrix, without those of all others. Pure. */
#ifndef EVSPACE_LEADING_H
#define EVSPACE_LEADING_H

/** Write the @wanted (8 at most) largest eigenvalues of the @n * @n @matrix (10 times as many at
 * least), the largest first, to @value, each known to 1e-7 of the largest at least, and their
 * vectors, one behind the other, to @vector. Returns NULL, or why there are none. */
const char *leading_find(const double *matrix, unsigned n, unsigned wanted, double *value,
			 double *vector);

#endif
