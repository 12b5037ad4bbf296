/* SPDX-License-Identifier: BSD-3-Clause */
/* Dwells are flattened by a stack of those that are open, and compared by going along two covers.
 */
#include "consumers/analysis/dwell.h"

#include <math.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

void dwells_add(struct dwells *list, struct dwell dwell)
{
	if (dwell.from >= dwell.to)
		return;
	list->all = memory_room(list->all, list->n, sizeof(*list->all));
	list->all[list->n++] = dwell;
}

void dwells_fini(struct dwells *list)
{
	free(list->all);
	*list = (struct dwells){0};
}

/* By their beginning; what is around another one before it. */
static int by_depth(const void *a, const void *b)
{
	const struct dwell *x = a, *y = b;

	if (x->from != y->from)
		return x->from > y->from ? 1 : -1;
	return (x->to < y->to) - (x->to > y->to);
}

/* What is open, the innermost last, and up to where all is said. */
struct sweep {
	struct dwells open, *flat;
	int64_t at;
};

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The innermost goes on up to @to. */
static void sweep_on(struct sweep *s, int64_t to)
{
	dwells_add(s->flat, (struct dwell){s->at, to, s->open.all[s->open.n - 1].what});
	s->at = to > s->at ? to : s->at;
}

static void sweep_close(struct sweep *s, int64_t until)
{
	while (s->open.n > 1 && s->open.all[s->open.n - 1].to <= until) {
		sweep_on(s, s->open.all[s->open.n - 1].to);
		s->open.n--;
	}
}

void dwells_flatten(struct dwells *nested, int64_t from, int64_t to, uint32_t outside,
		    struct dwells *flat)
{
	struct sweep s = {.flat = flat, .at = from};

	if (from >= to)
		return;
	if (nested->n > 0)
		qsort(nested->all, nested->n, sizeof(*nested->all), by_depth);
	dwells_add(&s.open, (struct dwell){from, to, outside});
	for (size_t i = 0; i < nested->n; i++) {
		const struct dwell d = nested->all[i];

		if (d.to <= from || d.from >= to)
			continue;
		sweep_close(&s, d.from);
		sweep_on(&s, d.from);
		dwells_add(&s.open, d);
	}
	sweep_close(&s, to);
	sweep_on(&s, to);
	dwells_fini(&s.open);
}

/* Of any two times. */
static uint64_t time_between(int64_t from, int64_t to)
{
	return (uint64_t)to - (uint64_t)from;
}

uint64_t dwells_spend(const struct dwells *flat, const struct dwells *unknown, double *spent)
{
	uint64_t left_out = 0;
	size_t u = 0;

	for (size_t i = 0; i < flat->n; i++) {
		const struct dwell *d = &flat->all[i];

		for (int64_t at = d->from, to; at < d->to; at = to) {
			while (u < unknown->n && unknown->all[u].to <= at)
				u++;
			to = u < unknown->n ? least(d->to, unknown->all[u].to) : d->to;
			if (u < unknown->n && unknown->all[u].what)
				left_out += time_between(at, to);
			else
				spent[d->what] += (double)time_between(at, to);
		}
	}
	return left_out;
}

double spent_apart(const double *a, const double *b, size_t n)
{
	double apart = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		apart += fabs(a[i] - b[i]);
		all += a[i] + b[i];
	}
	return all > 0 ? apart / all : 0;
}
