/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks so often that elements are read before they are full, and no more often than it may cost. */
#include "consumers/client/tempo.h"

/* So much longer may the next wave take to come when there is less to read. */
#define SLOWER 1.1

/* What a new wave counts for in the average of their costs. */
#define COST_NEW 0.25

void tempo_begin(struct tempo *t, double base_s)
{
	*t = (struct tempo){
		.base_s = base_s, .needed_s = base_s, .interval_s = base_s, .window = 1};
}

/* How full the fullest element was. What was lost is shared by all, so that this is the least. */
static double fill_of(const struct tempo_wave *w)
{
	if (w->fill > 0 || w->lost == 0)
		return w->fill;
	return 1 + (double)w->lost / (double)(w->read ? w->read : 1);
}

static double needed(const struct tempo *t, const struct tempo_wave *w)
{
	double fill = fill_of(w), s = t->needed_s * SLOWER;

	if (fill > 0 && w->apart_s * TEMPO_FILL / fill < s)
		s = w->apart_s * TEMPO_FILL / fill;
	return s < t->base_s ? s : t->base_s;
}

void tempo_wave(struct tempo *t, const struct tempo_wave *w)
{
	double least;

	/* Of the first one nobody knows for how long the elements have filled. */
	if (w->apart_s <= 0)
		return;
	t->cpu_s += (w->cpu_s - t->cpu_s) * (t->cpu_s > 0 ? COST_NEW : 1);
	t->needed_s = needed(t, w);
	least = t->cpu_s / TEMPO_SHARE;
	if (least < TEMPO_LEAST_S)
		least = TEMPO_LEAST_S;
	if (least > t->base_s)
		least = t->base_s;
	t->held_back = t->needed_s < least;
	t->interval_s = t->held_back ? least : t->needed_s;
	t->window = TEMPO_WINDOW;
	if (w->latency_s < (TEMPO_WINDOW - 1) * t->interval_s)
		t->window = 1 + (unsigned)(w->latency_s / t->interval_s);
}
