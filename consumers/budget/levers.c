/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of levers. */
#include "consumers/budget/levers.h"

const struct lever_row lever_rows[LEVER_COUNT] = {
	[LEVER_RATE] = {.name = "rate",
			.costs = "what is seen is older; elements that fill faster lose tuples",
			.gives = "the cost of looking falls with it",
			.how = "moved by --budget; --rate is the most",
			.least = 0.1,
			.most = 10000,
			.own = true},
	[LEVER_WINDOW] = {.name = "waves under way",
			  .costs = "a rate above one wave in each round trip does not come",
			  .gives = "less work in a burst",
			  .how = "moved by --budget, unless --window says it",
			  .least = 1,
			  .most = 64,
			  .own = true},
	[LEVER_CLASSES] = {.name = "modes of classes",
			   .costs = "events are counted or timed, and not recorded one by one",
			   .gives = "what collecting itself costs",
			   .how = "evspace collect --class CLASS time",
			   .least = 0,
			   .most = 1},
};
