/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals: adding values, merging, checks of totals from peers. */
#include "tree/data/total.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The most that correct values below 2^64 can come to. Bounds values from peers, so that merged
 * ones pass the next host's check, which would blame us. */
#define COUNT_MOST (UINT64_C(1) << 62)
#define MEAN_MOST  1.9e19
#define M2_MOST	   1e60

static const char *const fold_names[FOLD_COUNT_OF_KINDS] = {
	[FOLD_COUNT] = "count", [FOLD_SUM] = "sum",   [FOLD_MIN] = "min",
	[FOLD_MAX] = "max",	[FOLD_MEAN] = "mean", [FOLD_VARIANCE] = "variance",
};

static const char *const value_names[TOTAL_VALUES] = {
	[TOTAL_DURATION] = "duration",
	[TOTAL_BYTES] = "bytes",
};

void total_add(struct total *t, uint64_t value)
{
	double delta = (double)value - t->mean;

	t->count += t->count < COUNT_MOST;
	t->sum += value;
	t->mean += delta / (double)t->count;
	t->m2 += delta * ((double)value - t->mean);
	if (t->count == 1 || value < t->min)
		t->min = value;
	if (value > t->max)
		t->max = value;
}

void total_merge(void *into, const void *of)
{
	struct total *to = into;
	const struct total *from = of;
	double a = (double)to->count, b = (double)from->count, delta = from->mean - to->mean;

	if (from->count == 0)
		return;
	if (to->count == 0 || from->min < to->min)
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count = to->count + from->count < COUNT_MOST ? to->count + from->count : COUNT_MOST;
	to->sum += from->sum;
	to->mean = fmin(to->mean + delta * (b / (a + b)), MEAN_MOST);
	to->m2 = fmin(to->m2 + from->m2 + delta * delta * (a * b / (a + b)), M2_MOST);
}

uint64_t total_rank(const struct total *t)
{
	double figure = t->fold == FOLD_MEAN ? t->mean : t->m2 / (double)(t->count | !t->count);
	uint64_t rank;

	switch (t->fold) {
	case FOLD_COUNT:
		return t->count;
	case FOLD_SUM:
		return t->sum;
	case FOLD_MIN:
		return t->min;
	case FOLD_MAX:
		return t->max;
	default: /* the bits of doubles that are not negative have the order of their values */
		memcpy(&rank, &figure, sizeof(rank));
		return rank;
	}
}

bool total_sound(const void *total)
{
	const struct total *t = total;

	/* a NaN fails these comparisons */
	return t->value < TOTAL_VALUES && t->fold < FOLD_COUNT_OF_KINDS && t->count <= COUNT_MOST &&
	       t->min <= t->max && t->mean >= 0 && t->mean <= MEAN_MOST && t->m2 >= 0 &&
	       t->m2 <= M2_MOST;
}

static int find(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

const char *total_fold_name(unsigned fold)
{
	return fold < FOLD_COUNT_OF_KINDS ? fold_names[fold] : "?";
}

int total_fold_find(const char *name)
{
	return find(fold_names, FOLD_COUNT_OF_KINDS, name);
}

const char *total_value_name(unsigned value)
{
	return value < TOTAL_VALUES ? value_names[value] : "?";
}

int total_value_find(const char *name)
{
	return find(value_names, TOTAL_VALUES, name);
}
