/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts rules of steered collectives into the folders of runs, where their ranks look for them
 * (node-agent/collect/mpi/steer-set.h). */
#ifndef EVSPACE_STEERING_CARRY_H
#define EVSPACE_STEERING_CARRY_H

#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"

/** Carry out @ask, which has `steered`, on the leaf @place: for all runs with processes that live
 * and that this node holds, or that are not collected. See fanout_command_host.carry. */
void steering_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		    const struct plan_place *place, struct fanout_command_said *said);

#endif
