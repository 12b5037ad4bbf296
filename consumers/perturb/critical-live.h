/* SPDX-License-Identifier: BSD-3-Clause */
/* The critical share of a running program (consumers/budget/critical.h): reads its events for a
 * while. */
#ifndef EVSPACE_CRITICAL_LIVE_H
#define EVSPACE_CRITICAL_LIVE_H

#include "consumers/budget/critical.h"
#include "consumers/cli/options.h"
#include "tree/data/op.h"

/** What an event of each channel costs, in ns; NAN: not known. */
struct critical_live_costs {
	double event_ns[CHANNEL_PROGRAMS];
};

/** Remember what @costs says of channels. */
void critical_live_costs(struct critical_live_costs *costs, const struct evspace_costs *said);

/**
 * Read the events of the run @run for @ns, or until there are very many of them, and find the share
 * by the collectives on MPI_COMM_WORLD. Returns NULL, or why it cannot be told: then there is
 * nothing in @share but the counts. What it says is valid until the next call.
 */
const char *critical_live_read(const struct common *common, const char *run, uint64_t ns,
			       const struct critical_live_costs *costs,
			       struct critical_share *share);

#endif
