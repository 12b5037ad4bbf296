/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that are added up. */
#include "consumers/mir/probe-stat.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"

struct probe_stat probe_stat_of(double value)
{
	return (struct probe_stat){1, value, value, value, value, 0};
}

void probe_stat_merge(struct probe_stat *stat, const struct probe_stat *more)
{
	double count = stat->count + more->count, apart = more->mean - stat->mean;

	if (!(more->count > 0))
		return;
	if (!(stat->count > 0)) {
		*stat = *more;
		return;
	}
	stat->m2 += more->m2 + apart * apart * stat->count * more->count / count;
	stat->mean += apart * more->count / count;
	stat->count = count;
	stat->sum += more->sum;
	stat->min = more->min < stat->min ? more->min : stat->min;
	stat->max = more->max > stat->max ? more->max : stat->max;
}

double probe_stat_figure(const struct probe_stat *stat, enum mir_function function)
{
	const double figures[MIR_FUNCTIONS] = {
		[MIR_AVERAGE] = stat->mean,
		[MIR_MAXIMUM] = stat->max,
		[MIR_MINIMUM] = stat->min,
		[MIR_SUM] = stat->sum,
		[MIR_VARIANCE] = stat->count > 0 ? stat->m2 / stat->count : 0,
	};

	return figures[function];
}

static void ids_keep(char *kept[MIR_LEVELS], const char *const ids[MIR_LEVELS])
{
	for (unsigned i = 0; i < MIR_LEVELS; i++) {
		free(kept[i]);
		kept[i] = memory_copy(ids[i]);
	}
}

void probe_sum_add(struct probe_sum *sum, const struct probe_stat *more,
		   const char *const ids[MIR_LEVELS])
{
	if (!(more->count > 0))
		return;
	if (!(sum->stat.count > 0) || more->max > sum->stat.max)
		ids_keep(sum->most, ids);
	if (!(sum->stat.count > 0) || more->min < sum->stat.min)
		ids_keep(sum->least, ids);
	probe_stat_merge(&sum->stat, more);
}

void probe_sum_fini(struct probe_sum *sum)
{
	for (unsigned i = 0; i < MIR_LEVELS; i++) {
		free(sum->most[i]);
		free(sum->least[i]);
	}
	*sum = (struct probe_sum){{0}, {0}, {0}};
}
