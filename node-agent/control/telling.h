/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells this host's processes what is known of them: the budget in force, and what is measured
 * against it. */
#ifndef EVSPACE_TELLING_H
#define EVSPACE_TELLING_H

#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"

/** Carry out @ask, which has `told`, on the leaf @place: in the living processes of the run in
 * @said that this node holds. @host->changed counts those that are told. Collectors of releases
 * that cannot be told are passed over. See fanout_command_host.carry. */
void telling_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		   const struct plan_place *place, Evspace__Host *host,
		   struct fanout_command_said *said);

#endif
