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

/* On which side of what is usual is it, if so far that it counts? */
static int side_of(const struct usual *u, double value, const struct usual_bounds *b,
		   struct usual_change *change)
{
	double mean = usual_mean(u), squares = 0, away = fabs(value - mean);

	if (u->n < USUAL_LEAST || away <= b->least || away <= b->share * fabs(mean))
		return 0;
	for (unsigned i = 0; i < kept(u); i++)
		squares += (u->value[i] - mean) * (u->value[i] - mean);
	*change = (struct usual_change){value, mean, student_unlike(value, mean, squares, kept(u))};
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
