/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps values while these are few, then counts. */
#include "consumers/analysis/middle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

/* Values that are kept. */
#define FEW 128u

/* Counts in one of asinh(3). */
#define PARTS 50

void middle_fini(struct middle *m)
{
	free(m->values);
	free(m->counts);
	*m = (struct middle){0};
}

/* Have counts of those from @from to @to. */
static void counts_grow(struct middle *m, int32_t from, int32_t to)
{
	uint32_t *counts = memory_new((size_t)(to - from), sizeof(*counts));

	if (m->counts)
		memcpy(counts + (m->from - from), m->counts, (size_t)m->n_counts * sizeof(*counts));
	free(m->counts);
	m->counts = counts;
	m->from = from;
	m->n_counts = to - from;
}

static void count(struct middle *m, double value)
{
	const int32_t at = (int32_t)floor(asinh(value) * PARTS);

	if (m->n_counts == 0)
		counts_grow(m, at, at + 1);
	else if (at < m->from)
		counts_grow(m, at, m->from + m->n_counts);
	else if (at >= m->from + m->n_counts)
		counts_grow(m, m->from, at + 1);
	m->counts[at - m->from]++;
}

void middle_add(struct middle *m, double value)
{
	/* no time is as large */
	value = fmin(fmax(value, -1e30), 1e30);
	if (m->n < FEW) {
		m->values = memory_room(m->values, m->n, sizeof(*m->values));
		m->values[m->n++] = value;
		return;
	}
	for (uint64_t i = 0; m->values && i < m->n; i++)
		count(m, m->values[i]);
	free(m->values);
	m->values = NULL;
	count(m, value);
	m->n++;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(const struct middle *m)
{
	double *sorted = memory_new(m->n, sizeof(*sorted)), value;

	memcpy(sorted, m->values, m->n * sizeof(*sorted));
	qsort(sorted, m->n, sizeof(*sorted), compare);
	value = (sorted[(m->n - 1) / 2] + sorted[m->n / 2]) / 2;
	free(sorted);
	return value;
}

double middle_value(const struct middle *m)
{
	uint64_t below = 0;
	int32_t i = 0;

	if (m->n == 0)
		return 0;
	if (m->values)
		return median(m);
	while (i < m->n_counts - 1 && (below += m->counts[i]) <= m->n / 2)
		i++;
	return sinh((m->from + i + 0.5) / PARTS);
}
