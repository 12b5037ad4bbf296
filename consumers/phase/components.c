/* SPDX-License-Identifier: BSD-3-Clause */
/* Eigenvectors of a covariance by LAPACKE: an object of its own, so that agents and other commands
 * do not load linear algebra. */
#include "consumers/phase/components.h"

#include <lapacke.h>
#include <stdbool.h>
#include <stdlib.h>

#include "consumers/phase/leading.h"

/* From so many on only those that are wanted are found, if they can be: LAPACK goes by all of them,
 * which takes it many minutes for 10,000. */
#define LARGE 1024u

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

/* By LAPACK, the largest last. Returns NULL, or why there are none. */
static const char *all_find(double *covariance, unsigned n, unsigned wanted, double *values,
			    double *vectors)
{
	lapack_int *support = malloc(2u * wanted * sizeof(*support));
	lapack_int found = 0, size = (lapack_int)n, failed = 1;

	if (support)
		failed = LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', size, covariance, size, 0,
					0, size - (lapack_int)wanted + 1, size, 0, &found, values,
					vectors, size, support);
	free(support);
	return failed || found < (lapack_int)wanted ? "LAPACK finds no components" : NULL;
}

const char *components_find(double *covariance, unsigned n, unsigned wanted, double *variance,
			    double *vector)
{
	double *values = malloc(n * sizeof(*values));
	double *vectors = malloc((size_t)n * wanted * sizeof(*vectors));
	const char *why = "there is not enough memory for its components";
	bool last = false; /* is the largest one the last? */

	if (values && vectors && n >= LARGE)
		why = leading_find(covariance, n, wanted, values, vectors);
	if (values && vectors && why) {
		why = all_find(covariance, n, wanted, values, vectors);
		last = true;
	}
	for (unsigned k = 0; !why && k < wanted; k++) {
		unsigned from = last ? wanted - 1 - k : k;

		variance[k] = values[from] > 0 ? values[from] : 0;
		vector_turn(vectors + (size_t)from * n, vector + (size_t)k * n, n);
	}
	free(values);
	free(vectors);
	return why;
}
