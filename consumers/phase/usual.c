/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares a figure with what it was, two spans in a row. */
#include "consumers/phase/usual.h"

#include <math.h>

#include "consumers/analysis/student.h"

static unsigned kept(const struct usual *u)
{
	return u->n < USUAL_SPANS ? u->n : USUAL_SPANS;
}

double usual_mean(const struct usual *u)
{
	double sum = 0;

	for (unsigned i = 0; i < kept(u); i++)
		sum += u->value[i];
	return u->n > 0 ? sum / kept(u) : 0;
}

static void value_take(struct usual *u, double value)
{
	u->value[u->n++ % USUAL_SPANS] = value;
	/* the count of those before does not matter */
	if (u->n == 3 * USUAL_SPANS)
		u->n = 2 * USUAL_SPANS;
}

/* Mean, and squares of differences from it, of all but the one that is farthest from the mean of
 * all: one span alone, as without a processor, is not usual. Returns how many. */
static unsigned spread_of(const struct usual *u, double *mean, double *squares)
{
	double all = usual_mean(u);
	unsigned n = kept(u), farthest = 0;

	for (unsigned i = 1; i < n; i++)
		if (fabs(u->value[i] - all) > fabs(u->value[farthest] - all))
			farthest = i;
	*mean = *squares = 0;
	for (unsigned i = 0; i < n; i++)
		*mean += i == farthest ? 0 : u->value[i] / (n - 1);
	for (unsigned i = 0; i < n; i++)
		*squares += i == farthest ? 0 : (u->value[i] - *mean) * (u->value[i] - *mean);
	return n - 1;
}

/* On which side of what is usual is it, if so far that it counts? */
static int side_of(const struct usual *u, double value, const struct usual_bounds *b,
		   struct usual_change *change)
{
	double mean, squares, away;
	unsigned n;

	if (u->n < USUAL_LEAST)
		return 0;
	n = spread_of(u, &mean, &squares);
	away = fabs(value - mean);
	if (away <= b->least || away <= b->share * fabs(mean))
		return 0;
	*change = (struct usual_change){value, mean, student_unlike(value, mean, squares, n)};
	if (change->unlikely >= b->unlikely)
		return 0;
	return value > mean ? 1 : -1;
}

int usual_next(struct usual *u, double value, const struct usual_bounds *bounds,
	       struct usual_change *change)
{
	int side = side_of(u, value, bounds, change), before = u->away;
	double held = u->held;

	u->away = 0;
	if (side != 0 && side == before) {
		change->now = (value + held) / 2;
		*u = (struct usual){.n = 2, .value = {held, value}};
		return side;
	}
	/* one span alone tells nothing */
	if (before != 0)
		value_take(u, held);
	if (side == 0) {
		value_take(u, value);
		return 0;
	}
	u->away = side;
	u->held = value;
	return 0;
}
