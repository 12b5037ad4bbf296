/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits a tail to what is usual. */
#include "consumers/analysis/tail.h"

#include <math.h>

/* By how much there must be more values for another fit. */
#define GROWN(n) ((n) + (n) / 16)

void tail_add(struct tail *t, double value)
{
	t->n++;
	t->bins[bin_number(value < 1.8e19 ? (uint64_t)value : UINT64_MAX)]++;
}

/* The value that this share of all is not above. */
static double quantile(const struct tail *t, double share)
{
	uint64_t passed = 0;
	unsigned at = 0;

	for (unsigned i = 0; i < BIN_COUNT; i++) {
		if (t->bins[i])
			at = i;
		passed += t->bins[i];
		if ((double)passed >= share * (double)t->n)
			break;
	}
	return (double)bin_high(at) + 1;
}

/* A value exceeds x with exp(-(x/scale)^shape). The tail is taken to be as heavy as it may be, by
 * two standard deviations of both quantiles; one lighter than an exponential one is not believed.
 */
static void fit(struct tail *t)
{
	double n = sqrt((double)t->n); /* standard deviations of shares are sqrt(p (1 - p)) / n */
	double half = quantile(t, 0.5 - 0.75 / n), tenth = quantile(t, 0.9 + 0.45 / n);

	t->fitted = t->n;
	t->shape = fmin(log(log(10) / log(2)) / log(tenth / half), 1);
	t->scale = tenth / pow(log(10), 1 / t->shape);
}

double tail_expected(struct tail *t, double value)
{
	if (t->n < TAIL_LEAST)
		return (double)t->n;
	if (t->n >= GROWN(t->fitted))
		fit(t);
	return value > 0 ? (double)t->n * exp(-pow(value / t->scale, t->shape)) : (double)t->n;
}
