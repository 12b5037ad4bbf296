/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes times of ticks, by a line from the element's making until now. */
#include "node-agent/pastset/pastset-clock.h"

#include <string.h>

void pastset_clock_init(struct pastset_clock *clock, const struct pastset_header *said)
{
	char boot_id[sizeof(said->boot_id)];

	*clock = (struct pastset_clock){
		.known = strcmp(clock_boot_id(boot_id, sizeof(boot_id)), said->boot_id) == 0};
}

int64_t pastset_clock_ns(struct pastset_clock *clock, const struct pastset_header *said,
			 uint64_t ticks)
{
	const enum clock_kind kind = (enum clock_kind)said->clock_kind;
	uint64_t span = clock->late.ticks - said->born.ticks;

	if (!clock->known)
		return 0;
	/* a line that goes on for an eighth of its length is right enough */
	if (!clock->late.mono_ns ||
	    (ticks > clock->late.ticks && ticks - clock->late.ticks > span / 8)) {
		clock->late = clock_pair_take(kind);
		clock->line = clock_line_through(kind, said->born, clock->late,
						 said->born_real_ns - (int64_t)said->born.mono_ns);
	}
	return clock_line_ns(&clock->line, ticks);
}
