/* SPDX-License-Identifier: BSD-3-Clause */
/* Means and covariances of columns that change one at a time, as sums over all rows. Pure. */
#ifndef EVSPACE_MOMENTS_H
#define EVSPACE_MOMENTS_H

#include <stdint.h>

/**
 * A row is all columns at once, but from one row to the next few of them change; so a column is
 * multiplied with the others when it changes, not in each row: what it has been since is a constant
 * times the sums of the others.
 */
struct moments {
	unsigned columns;
	uint64_t rows;
	double *value;	  /* of the present row */
	double *before;	  /* the sum of a column over its rows is before + value * rows */
	double *products; /* lower triangle: sums of column i times column j */
	double *marks;	  /* lower triangle: the sum of column j when i was last multiplied */
};

/** All @columns are @value. Aborts when there is no memory: 8 bytes for each two of them. */
void moments_init(struct moments *m, unsigned columns, double value);

/** Free what it owns. */
void moments_fini(struct moments *m);

/** From the next row on, @column is @value. Takes time in proportion to @column. */
void moments_change(struct moments *m, unsigned column, double value);

/** The present values are a row. */
static inline void moments_row(struct moments *m)
{
	m->rows++;
}

/** The mean of a column over all rows, of which there is one at least. */
double moments_mean(const struct moments *m, unsigned column);

/** Write the covariances (divided by the number of rows less 1, or by 1) as a matrix of
 * columns * columns doubles to @covariance. */
void moments_covariance(struct moments *m, double *covariance);

#endif
