/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches functions of this host's processes that are compiled with -finstrument-functions. */
#ifndef EVSPACE_FUNCTIONS_H
#define EVSPACE_FUNCTIONS_H

#include "node-agent/source/site.h"
#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"

/** Most names of functions in one command, as each is looked for in all files of all processes;
 * most functions of a process, and how long they may be on without another one. */
#define FUNCTIONS_ASKED	  1024u
#define FUNCTIONS_NAMED	  SITE_FUNCTIONS
#define FUNCTIONS_MOST_MS UINT64_C(3600000)

/** Carry out @ask, which has `functions`, on the leaf @place: in the living processes of the run in
 * @said that this node holds. @host->changed counts functions by process that were found there by
 * the symbols of its files, of those that have room for all: the others are told in @said; a
 * collector of a release that knows no functions has none. See fanout_command_host.carry. */
void functions_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		     const struct plan_place *place, Evspace__Host *host,
		     struct fanout_command_said *said);

#endif
