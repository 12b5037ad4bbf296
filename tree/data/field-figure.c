/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of fields: adding values, merging, checks of those from peers. */
#include "tree/data/field-figure.h"

#include <math.h>
#include <string.h>

#include "tree/data/total.h"

/* So many values are no more than that. */
#define COUNT_MOST (UINT64_C(1) << 62)

/* The mean of two of which @b has the part 1 / @parts. Of an infinite one it is that. */
static double mean_of(double a, double b, double parts)
{
	double delta = b - a;

	if (isfinite(delta))
		return a + delta / parts;
	return isinf(a) || isinf(b) ? a + b : a - a / parts + b / parts;
}

void field_figure_add(struct field_figure *f, double value)
{
	double delta = value - f->mean;

	f->min = f->count == 0 ? value : fmin(f->min, value);
	f->max = f->count == 0 ? value : fmax(f->max, value);
	f->count += f->count < COUNT_MOST;
	f->mean = mean_of(f->mean, value, (double)f->count);
	f->m2 += delta * (value - f->mean);
}

/* FNV-1a: the same on all hosts. */
uint64_t field_figure_key(const struct field_figure *f)
{
	uint64_t key = UINT64_C(14695981039346656037);

	for (const char *c = f->field; *c; c++)
		key = (key ^ (unsigned char)*c) * UINT64_C(1099511628211);
	return key;
}

void field_figure_merge(void *into, const void *of)
{
	struct field_figure *to = into;
	const struct field_figure *from = of;
	double a = (double)to->count, b = (double)from->count, delta = from->mean - to->mean;

	to->min = fmin(to->min, from->min);
	to->max = fmax(to->max, from->max);
	to->count = to->count + from->count < COUNT_MOST ? to->count + from->count : COUNT_MOST;
	to->mean = mean_of(to->mean, from->mean, (a + b) / b);
	to->m2 += from->m2 + delta * delta * (a * b / (a + b));
}

bool field_figure_sound(const void *record)
{
	static const unsigned char none[sizeof(((struct field_figure *)0)->pad)];
	const struct field_figure *f = record;

	return f->count > 0 && f->count <= COUNT_MOST && f->fold < FOLD_COUNT_OF_KINDS &&
	       memcmp(f->pad, none, sizeof(none)) == 0 && f->field[0] &&
	       memchr(f->field, 0, sizeof(f->field));
}
