/* SPDX-License-Identifier: BSD-3-Clause */
/* Eigenvectors of a covariance by LAPACKE: an object of its own, so that agents and other commands
 * do not load linear algebra. */
#include "consumers/phase/components.h"

#include <lapacke.h>
#include <stdlib.h>

__attribute__((visibility("default"))) components_find_function components_find;

/* Either direction is an eigenvector: take the one along which block numbers grow. */
static void vector_turn(const double *from, double *to, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += from[i];
	for (unsigned i = 0; i < n; i++)
		to[i] = sum < 0 ? -from[i] : from[i];
}

const char *components_find(double *covariance, unsigned n, unsigned wanted, double *variance,
			    double *vector)
{
	double *values = malloc(n * sizeof(*values));
	double *vectors = malloc((size_t)n * wanted * sizeof(*vectors));
	lapack_int *support = malloc(2u * wanted * sizeof(*support));
	const char *why = "there is not enough memory for its components";
	lapack_int found = 0, size = (lapack_int)n;

	if (values && vectors && support) {
		lapack_int failed =
			LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', size, covariance, size, 0,
				       0, size - (lapack_int)wanted + 1, size, 0, &found, values,
				       vectors, size, support);

		why = failed || found < (lapack_int)wanted ? "LAPACK finds no components" : NULL;
	}
	for (unsigned k = 0; !why && k < wanted; k++) {
		unsigned from = wanted - 1 - k;

		variance[k] = values[from] > 0 ? values[from] : 0;
		vector_turn(vectors + (size_t)from * n, vector + (size_t)k * n, n);
	}
	free(values);
	free(vectors);
	free(support);
	return why;
}
