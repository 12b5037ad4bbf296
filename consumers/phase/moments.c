/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of products of columns, brought up to date when a column changes. */
#include "consumers/phase/moments.h"

#include <stdlib.h>

#include "consumers/phase/vectors.h"
#include "pathmap/base/memory.h"

static size_t triangle(size_t column)
{
	return column * (column + 1) / 2;
}

void moments_init(struct moments *m, unsigned columns, double value)
{
	*m = (struct moments){.columns = columns};
	m->value = memory_new(columns, sizeof(*m->value));
	m->before = memory_new(columns, sizeof(*m->before));
	m->products = memory_new(triangle(columns), sizeof(*m->products));
	m->marks = memory_new(triangle(columns), sizeof(*m->marks));
	for (unsigned i = 0; i < columns; i++)
		m->value[i] = value;
}

void moments_fini(struct moments *m)
{
	free(m->value);
	free(m->before);
	free(m->products);
	free(m->marks);
	*m = (struct moments){0};
}

/* Multiply what @column was since the last time. */
VECTORS static void column_multiply(struct moments *m, unsigned column)
{
	double *restrict products = m->products + triangle(column);
	double *restrict marks = m->marks + triangle(column);
	const double *restrict before = m->before, *restrict value = m->value;
	double rows = (double)m->rows, x = value[column];

	for (unsigned j = 0; j <= column; j++) {
		double sum = before[j] + value[j] * rows;

		products[j] += x * (sum - marks[j]);
		marks[j] = sum;
	}
}

void moments_change(struct moments *m, unsigned column, double value)
{
	column_multiply(m, column);
	m->before[column] += (m->value[column] - value) * (double)m->rows;
	m->value[column] = value;
}

double moments_mean(const struct moments *m, unsigned column)
{
	return m->before[column] / (double)m->rows + m->value[column];
}

void moments_covariance(struct moments *m, double *covariance)
{
	double n = (double)m->rows, by = m->rows > 1 ? n - 1 : 1;

	for (unsigned i = 0; i < m->columns; i++) {
		column_multiply(m, i);
		for (unsigned j = 0; j <= i; j++) {
			double c = m->products[triangle(i) + j] / n -
				   moments_mean(m, i) * moments_mean(m, j);

			covariance[(size_t)i * m->columns + j] = c * n / by;
			covariance[(size_t)j * m->columns + i] = c * n / by;
		}
	}
}
