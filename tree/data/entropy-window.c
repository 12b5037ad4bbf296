/* SPDX-License-Identifier: BSD-3-Clause */
/* Entropy of the next event, given how often the one before it was repeated. */
#include "tree/data/entropy-window.h"

#include <math.h>

/* Table 1 of the paper. */
static const double paper_alpha[] = {0.5, 0.7, 0.9};

#define PAPER_ALPHAS (sizeof(paper_alpha) / sizeof(paper_alpha[0]))

void entropy_table_init(struct entropy_table *table, unsigned size, double scale,
			const double *alpha)
{
	double one = 1, product = 1; /* p_i / p_event, and p_w / p_event^(i+1) */

	*table = (struct entropy_table){.size = size, .scale = scale};
	for (unsigned i = 0; i < size; i++) {
		double a = alpha	      ? alpha[i]
			   : i < PAPER_ALPHAS ? paper_alpha[i]
					      : (1 + table->alpha[i - 1]) / 2;

		table->alpha[i] = a;
		product *= one;
		table->same[i] = -scale * product * a * log(a);
		table->other[i] = -scale * product * (1 - a) * log(1 - a);
		one *= a;
	}
}

double entropy_window_next(const struct entropy_table *table, struct entropy_window *window,
			   uint32_t event, double p)
{
	bool same = window->any && window->last == event;
	unsigned i = window->repeated;
	double s = same ? table->same[i] : table->other[i];

	for (unsigned k = 0; k <= i; k++)
		s *= p;
	if (!same)
		window->repeated = 0;
	else if (i + 1 < table->size)
		window->repeated++;
	window->last = event;
	window->any = true;
	return s;
}

double entropy_threshold(const struct entropy_table *table, double p)
{
	unsigned last = table->size - 1;

	return sqrt(table->same[last] * table->other[last]) * pow(p, table->size);
}
