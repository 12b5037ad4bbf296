/* SPDX-License-Identifier: BSD-3-Clause */
/* Principal components, found by an object that is loaded for it (components.c). Pure. */
#ifndef EVSPACE_COMPONENTS_H
#define EVSPACE_COMPONENTS_H

/** The object's name, and its function's. */
#define COMPONENTS_OBJECT "libevspace-components.so"
#define COMPONENTS_SYMBOL "components_find"

/**
 * Find the @wanted directions in which @n columns vary most: of @covariance (n * n doubles, which
 * is spent), the largest eigenvalues, which are variances, the largest first, to @variance, and to
 * @vector their eigenvectors, n doubles each, whose sum is not negative (LAPACK's dsyevr). Returns
 * NULL, or what has failed.
 */
typedef const char *components_find_function(double *covariance, unsigned n, unsigned wanted,
					     double *variance, double *vector);

#endif
