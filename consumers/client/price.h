/* SPDX-License-Identifier: BSD-3-Clause */
/* Timed events of all processes, and what follows from them. */
#ifndef EVSPACE_PRICE_H
#define EVSPACE_PRICE_H

#include "consumers/client/evspace-cost.h"
#include "tree/data/op.h"

/** Of a channel: its events, and sums over those that were timed; the same of operations that wrote
 * none. */
struct price_timed {
	uint64_t events, n, cut, passed;
	double ns, squares, passed_ns;
};

/** Make means with their intervals of @timed, and set `events`, `collecting_s` and its error in
 * @sums. Pure. */
void price_channels(const struct price_timed timed[CHANNEL_PROGRAMS],
		    struct evspace_channel_cost channels[CHANNEL_PROGRAMS],
		    struct evspace_cost_sums *sums);

#endif
