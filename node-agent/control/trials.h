/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments in this host's processes: begins and ends them, and sees to it that each one ends. */
#ifndef EVSPACE_TRIALS_H
#define EVSPACE_TRIALS_H

#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"

struct event_base;
struct trials;

/** Look after the experiments in the segments of @here from @base's loop. No timer runs unless one
 * is under way that this agent has begun; programs end those of an agent before it themselves. */
struct trials *trials_new(struct event_base *base, const struct source_host *here);
void trials_free(struct trials *trials);

/**
 * Carry out @ask, which has a trial, on the leaf @place: in the living processes of the run in
 * @said that this node holds. @host->changed counts those where it began or ended. See
 * fanout_command_host.carry.
 */
void trials_carry(struct trials *trials, const Evspace__SwitchAsk *ask,
		  const struct plan_place *place, Evspace__Host *host,
		  struct fanout_command_said *said);

#endif
