/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares counts of the same hosts alone. */
#include "consumers/budget/frequency.h"

#include <stdbool.h>

double frequency_take(struct frequency *f, const struct frequency_look *l)
{
	bool same = f->when_ns > 0 && l->hosts == f->hosts;

	if (same && l->processes > 0 && l->calls > f->calls && l->when_ns > f->when_ns)
		return (double)(l->calls - f->calls) / l->processes * 1e9 /
		       (double)(l->when_ns - f->when_ns);
	/* whose processes have gone, has fewer */
	if (!same || l->calls < f->calls)
		*f = (struct frequency){l->hosts, l->calls, l->when_ns};
	return 0;
}
