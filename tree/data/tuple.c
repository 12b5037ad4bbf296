/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of tuples: ticks to nanoseconds, durations. */
#include "tree/data/tuple.h"

#include "tree/data/clock.h"

void tuple_to_ns(struct tuple *tuple, const struct clock_line *line)
{
	tuple->start = (uint64_t)clock_line_ns(line, tuple->start);
	if (tuple->end)
		tuple->end = (uint64_t)clock_line_ns(line, tuple->end);
}

bool tuple_duration(const struct tuple *tuple, const struct clock_line *line, uint64_t *ns)
{
	double duration;

	if (tuple->end == 0 || tuple->flags & TUPLE_RUNNING)
		return false;
	if (tuple->end <= tuple->start)
		*ns = 0;
	else if (line->ns_per_tick == 1)
		*ns = tuple->end - tuple->start;
	else {
		duration = (double)(tuple->end - tuple->start) * line->ns_per_tick + 0.5;
		*ns = duration < 9e18 ? (uint64_t)duration : (uint64_t)INT64_MAX;
	}
	return true;
}
