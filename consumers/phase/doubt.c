/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the latest time of two processes, as one is not compared with itself. */
#include "consumers/phase/doubt.h"

#include <math.h>

void doubt_begin(struct doubt *d)
{
	d->last = d->other = (struct doubt_reach){.until = -INFINITY};
}

static void reach_add(struct doubt *d, double until, unsigned process)
{
	struct doubt_reach *to = process == d->last.process ? &d->last : &d->other;

	if (until <= to->until)
		return;
	if (to == &d->other && until > d->last.until) {
		d->other = d->last;
		to = &d->last;
	}
	*to = (struct doubt_reach){until, process};
}

bool doubt_add(struct doubt *d, double time, double bound, unsigned process)
{
	const struct doubt_reach *before = process == d->last.process ? &d->other : &d->last;
	bool unsure = time - bound < before->until;

	reach_add(d, time + bound, process);
	return unsure;
}

double doubt_bits(double share, double kinds)
{
	if (!(share > 0) || kinds < 2)
		return 0;
	if (share >= 1 - 1 / kinds)
		return log2(kinds);
	return share * log2(kinds - 1) - share * log2(share) - (1 - share) * log2(1 - share);
}
