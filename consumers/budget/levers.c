/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of levers, and what it means to move them. */
#include "consumers/budget/levers.h"

const struct lever_row lever_rows[LEVER_COUNT] = {
	[LEVER_RATE] = {.name = "rate",
			.costs = "what is seen is older; elements that fill faster lose tuples",
			.gives = "the cost of looking falls with it",
			.how = "moved by --budget; --rate is the most",
			.least = 0.1,
			.most = 10000},
	[LEVER_WINDOW] = {.name = "waves under way",
			  .costs = "a rate above one wave in each round trip does not come",
			  .gives = "less work in a burst",
			  .how = "moved by --budget, unless --window says it",
			  .least = 1,
			  .most = 64},
	[LEVER_URGENCY] = {.name = "urgency",
			   .costs = "on full processors answers come late",
			   .gives = "agents take no core from the program",
			   .how = "moved by --budget, unless --urgency says it",
			   .least = 0,
			   .most = 1},
	[LEVER_ONE_IN] =
		{
			.name = "one in n",
			.costs = "not each event of a class is seen, by nobody",
			.gives = "its events cost n times less",
			.how = "moved by --budget PERCENT,collect; else evspace collect 1/8",
			.least = 1,
			.most = 65536,
		},
	[LEVER_CLASSES] =
		{
			.name = "modes of classes",
			.costs = "events are counted, and not recorded one by one",
			.gives = "what recording itself costs",
			.how = "evspace collect --class CLASS count",
			.least = 0,
			.most = 1,
		},
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
