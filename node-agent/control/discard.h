/* SPDX-License-Identifier: BSD-3-Clause */
/* Discards what elements of this host hold, on request. */
#ifndef EVSPACE_DISCARD_H
#define EVSPACE_DISCARD_H

#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"

/**
 * Mark the elements that @ask selects below the leaf @place: what they hold now is discarded, for
 * all readers. Says in @host how many processes and elements (`changed`) there were, and how many
 * tuples. The run is @said's, which is told why something cannot be.
 */
void discard_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		   const struct plan_place *place, Evspace__Host *host,
		   struct fanout_command_said *said);

#endif
