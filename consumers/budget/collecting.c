/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares what was written and how long that took, each summed up: of two waves that come one
 * right after the other, either alone says nothing. */
#include "consumers/budget/collecting.h"

#include <math.h>
#include <stdbool.h>

/* Older times count less, by e after so long; nothing is said of less than that. */
#define STEADY_S 10.0
#define LEAST_S	 0.5

/* Can the wave be compared with the one before? A host that was missing, and is back, has all that
 * it has written since the program began. */
static bool is_comparable(const struct collecting *c, const struct collecting_wave *w)
{
	return c->taken_ns && w->taken_ns > c->taken_ns && w->hosts == c->hosts &&
	       w->written >= c->written && (w->cost_ns > 0 || w->written == 0) && w->processes > 0;
}

double collecting_take(struct collecting *c, const struct collecting_wave *w)
{
	if (is_comparable(c, w)) {
		double apart_s = (double)(w->taken_ns - c->taken_ns) * 1e-9;
		double kept = exp(-apart_s / STEADY_S);
		/* means get better with time: the newest one is that of all events */
		double each_ns = w->written ? (double)w->cost_ns / (double)w->written : 0;

		c->cost_s = kept * c->cost_s + (double)(w->written - c->written) * each_ns * 1e-9;
		c->lived_s = kept * c->lived_s + apart_s * w->processes;
		c->seen_s = kept * c->seen_s + apart_s;
	}
	c->hosts = w->hosts;
	c->written = w->written;
	c->taken_ns = w->taken_ns;
	return c->seen_s >= LEAST_S ? c->cost_s / c->lived_s : NAN;
}
