/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates of slowdowns with intervals that are valid at all times. */
#include "consumers/budget/effect.h"

#include <math.h>

/* Where the interval is narrowest, in pairs. */
#define NARROWEST 64.0

void effect_add(struct effect *effect, double with, double without)
{
	double d = log(with / without), off = d - effect->mean;

	effect->n++;
	effect->mean += off / (double)effect->n;
	effect->m2 += off * (d - effect->mean);
}

/* How far the mean may be off, at all times together. */
static double effect_half(const struct effect *effect, double confidence)
{
	double n = (double)effect->n, miss = 1 - confidence;
	double tail = -2 * log(miss), rho2 = (tail + log(tail) + 1) / NARROWEST;
	double spread = sqrt(effect->m2 / (n - 1)) * (1 + 4 / n);

	return spread * sqrt(2 * (n * rho2 + 1) / (n * n * rho2) * log(sqrt(n * rho2 + 1) / miss));
}

struct effect_interval effect_interval(const struct effect *effect, double confidence)
{
	struct effect_interval interval = {.n = effect->n, .estimate = expm1(effect->mean)};
	double half = INFINITY;

	if (effect->n >= EFFECT_PAIRS_LEAST)
		half = effect_half(effect, confidence);
	interval.low = isinf(half) ? -INFINITY : expm1(effect->mean - half);
	interval.high = expm1(effect->mean + half);
	interval.visible = expm1(half);
	return interval;
}
