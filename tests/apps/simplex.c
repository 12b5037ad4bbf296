/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves vertices; the function is Rosenbrock's valley, lower for those that stay near it. */
#include "tests/apps/simplex.h"

#include <string.h>

static void block(const struct simplex_work *w, uint32_t number)
{
	if (w->block)
		w->block(w->arg, number);
}

static double fun(const struct simplex_work *w, const double *x)
{
	double sum = 0;

	if (w->fun)
		w->fun(w->arg);
	for (int i = 0; i + 2 < w->size; i++)
		sum += (x[i + 1] - x[i] * x[i]) * (x[i + 1] - x[i] * x[i]) +
		       (1 - x[i]) * (1 - x[i]) / 100;
	return sum;
}

void simplex_begin(const struct simplex_work *w, struct simplex *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < w->size; i++) {
		for (int k = 0; k + 1 < w->size; k++)
			s->at[i][k] = (i == k + 1 ? 1.5 : 0) - 0.5;
	}
}

void simplex_values(const struct simplex_work *w, const struct simplex *s, double *value)
{
	for (int i = 0; i < w->size; i++)
		value[i] = fun(w, s->at[i]);
}

int simplex_least(const struct simplex_work *w, const double *value)
{
	int at = 0;

	for (int i = 1; i < w->size; i++)
		at = value[i] < value[at] ? i : at;
	return at;
}

/* Vertex @me moved by @factor of its way through the middle of the others. */
static double project(const struct simplex_work *w, const struct simplex *s, int me, double factor,
		      double *to)
{
	for (int k = 0; k + 1 < w->size; k++) {
		double middle = 0;

		for (int i = 0; i < w->size; i++)
			middle += i == me ? 0 : s->at[i][k];
		middle /= w->size - 1;
		to[k] = s->at[me][k] + factor * (middle - s->at[me][k]);
	}
	return fun(w, to);
}

static void shrink(const struct simplex_work *w, struct simplex *s, const double *value, int me)
{
	int to = simplex_least(w, value);

	for (int k = 0; k + 1 < w->size; k++) {
		if (to != me)
			s->at[me][k] = (s->at[me][k] + s->at[to][k]) / 2;
	}
}

double simplex_move(const struct simplex_work *w, struct simplex *s, double *value, int me)
{
	double test[SIMPLEX_MOST], more[SIMPLEX_MOST], tested, extended;
	int low;

	block(w, 2);
	low = simplex_least(w, value);
	block(w, 3);
	tested = project(w, s, me, 2, test);
	block(w, 4);
	if (tested < value[low]) {
		block(w, 5);
		extended = project(w, s, me, 3, more);
		block(w, 6);
		memcpy(s->at[me], extended < tested ? more : test,
		       (size_t)(w->size - 1) * sizeof(*test));
	} else {
		block(w, 7);
		shrink(w, s, value, me);
		simplex_values(w, s, value);
		block(w, 8);
	}
	block(w, 9);
	value[me] = fun(w, s->at[me]);
	return value[simplex_least(w, value)];
}

int simplex_step(const struct simplex_work *w, const struct simplex *from, struct simplex *to)
{
	double value[SIMPLEX_MOST], lowest = 0;
	int best = 0;

	for (int me = 0; me < w->size; me++) {
		struct simplex s = *from;
		double now;

		simplex_values(w, &s, value);
		now = simplex_move(w, &s, value, me);
		if (me > 0 && now >= lowest)
			continue;
		lowest = now;
		*to = s;
		best = me;
	}
	return best;
}
