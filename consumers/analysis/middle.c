/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves five markers with each value. */
#include "consumers/analysis/middle.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Where a marker is if it moves by @way places, by the parabola through it and its neighbours, or
 * if that is not between them, by a line. */
static double moved(const struct middle *m, int i, int way)
{
	const double *q = m->value, *n = m->place;
	double up = (q[i + 1] - q[i]) / (n[i + 1] - n[i]);
	double down = (q[i] - q[i - 1]) / (n[i] - n[i - 1]);
	double to = q[i] + way / (n[i + 1] - n[i - 1]) *
				   ((n[i] - n[i - 1] + way) * up + (n[i + 1] - n[i] - way) * down);

	return q[i - 1] < to && to < q[i + 1] ? to : q[i] + way * (way > 0 ? up : down);
}

static void adjust(struct middle *m)
{
	for (int i = 1; i < 4; i++) {
		double off = 1 + (double)(m->n - 1) * i / 4 - m->place[i];
		int way = off >= 1 && m->place[i + 1] - m->place[i] > 1	   ? 1
			  : off <= -1 && m->place[i] - m->place[i - 1] > 1 ? -1
									   : 0;

		if (way == 0)
			continue;
		m->value[i] = moved(m, i, way);
		m->place[i] += way;
	}
}

void middle_add(struct middle *m, double value)
{
	int above = 0;

	value = asinh(value);
	if (m->n < 5) {
		m->value[m->n++] = value;
		qsort(m->value, m->n, sizeof(*m->value), compare);
		m->place[m->n - 1] = (double)m->n;
		return;
	}
	m->n++;
	m->value[0] = value < m->value[0] ? value : m->value[0];
	m->value[4] = value > m->value[4] ? value : m->value[4];
	while (above < 4 && value >= m->value[above])
		above++;
	for (int i = above > 0 ? above : 1; i < 5; i++)
		m->place[i]++;
	adjust(m);
}

double middle_value(const struct middle *m)
{
	if (m->n == 0)
		return 0;
	if (m->n < 5)
		return (sinh(m->value[(m->n - 1) / 2]) + sinh(m->value[m->n / 2])) / 2;
	return sinh(m->value[2]);
}
