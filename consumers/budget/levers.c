/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of levers: how far each goes, and what spending less costs there. */
#include "consumers/budget/levers.h"

const struct lever_row lever_rows[LEVER_COUNT] = {
	[LEVER_RATE] = {.least = 0.1, .most = 10000}, /* what is seen is older */
	[LEVER_WINDOW] = {.least = 1, .most = 64},    /* one: at most a wave a round trip */
	[LEVER_URGENCY] = {.least = 0, .most = 1},    /* answers come late on full processors */
	[LEVER_ONE_IN] = {.least = 1, .most = 65536}, /* single events are not seen */
};

unsigned levers_moved(const struct levers *before, const struct levers *now)
{
	unsigned moved = 0;

	moved |= (unsigned)(before->rate_hz < now->rate_hz || before->rate_hz > now->rate_hz)
		 << LEVER_RATE;
	moved |= (unsigned)(before->window != now->window) << LEVER_WINDOW;
	moved |= (unsigned)(before->idle != now->idle) << LEVER_URGENCY;
	moved |= (unsigned)(before->halvings != now->halvings) << LEVER_ONE_IN;
	return moved;
}
