/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases on the modes of this host's processes, and experiments: begins and ends these, and sees to
 * it that each one ends. */
#ifndef EVSPACE_TRIALS_H
#define EVSPACE_TRIALS_H

#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"

struct event_base;
struct trials;

/** Look after leases in the segments of @here from @base's loop, while there are any: an agent
 * before this one may have given some. */
struct trials *trials_new(struct event_base *base, const struct source_host *here);
void trials_free(struct trials *trials);

/** A lease was given: end it when it is over. */
void trials_watch(struct trials *trials);

/** The end of a lease of @ms from now, on CLOCK_MONOTONIC: no longer than an hour. */
uint64_t trials_until(uint32_t ms);

/**
 * Carry out @ask, which has a trial, on the leaf @place: in the living processes of the run in
 * @said that this node holds. @host->changed counts those where it began or ended. See
 * fanout_command_host.carry.
 */
void trials_carry(struct trials *trials, const Evspace__SwitchAsk *ask,
		  const struct plan_place *place, Evspace__Host *host,
		  struct fanout_command_said *said);

#endif
