/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells when tuples of a program's element were written. */
#include "node-agent/pastset/element-handle.h"

int64_t element_time(struct evspace_element *e, uint64_t ticks)
{
	const struct pastset_header *said = &e->file.said;
	uint64_t span = e->late.ticks - said->born.ticks;

	if (!e->same_boot)
		return 0;
	/* a line that goes on for an eighth of its length is right enough */
	if (!e->late.mono_ns || (ticks > e->late.ticks && ticks - e->late.ticks > span / 8)) {
		e->late = clock_pair_take((enum clock_kind)said->clock_kind);
		e->line = clock_line_through((enum clock_kind)said->clock_kind, said->born, e->late,
					     said->born_real_ns - (int64_t)said->born.mono_ns);
	}
	return clock_line_ns(&e->line, ticks);
}
