/* SPDX-License-Identifier: BSD-3-Clause */
/* More credit and more waves while these come at once, less when they queue on their way. */
#include "consumers/client/flow-control.h"

/* First credit for a slow connection, and the least credit, in bytes of plain tuples. */
#define FLOW_CONTROL_SLOW  ((size_t)1 << 20)
#define FLOW_CONTROL_LEAST ((size_t)64 << 10)
#define QUEUED_S	   1.0
#define SOON_S		   0.5

void flow_control_begin(struct flow_control *c, bool slow)
{
	if (!c->bytes)
		c->bytes = FLOW_CONTROL_MOST;
	if (slow && c->bytes > FLOW_CONTROL_SLOW)
		c->bytes = FLOW_CONTROL_SLOW;
}

void flow_control_wave(struct flow_control *c, uint64_t number, size_t bytes, double seconds,
		       unsigned shares, double deadline_s, uint64_t next)
{
	/* asked for with other credit than the present one */
	if (number < c->since)
		return;
	if (seconds > deadline_s + QUEUED_S && c->bytes > FLOW_CONTROL_LEAST) {
		c->bytes /= 2;
		c->since = next;
	} else if (seconds < SOON_S && bytes >= c->bytes / shares / 2 &&
		   c->bytes < FLOW_CONTROL_MOST) {
		c->bytes *= 2;
		c->since = next;
	}
}

/* Most growth of the interval from one wave to the next. */
#define SLOWER 1.1

/* Weight of a new wave in the average cost. */
#define COST_NEW 0.25

void tempo_begin(struct tempo *t, double base_s)
{
	*t = (struct tempo){
		.base_s = base_s, .needed_s = base_s, .interval_s = base_s, .window = 1};
}

/* The fill of the fullest element. Lost tuples are counted over all elements, so this is a lower
 * bound. */
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

	/* it is unknown for how long the elements filled before the first wave */
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
