/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches of this host's processes: what their classes are and count, and changing their
 * modes. */
#ifndef EVSPACE_SWITCH_H
#define EVSPACE_SWITCH_H

#include <stddef.h>

#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"
#include "tree/scope/classes.h"

/** Add what the classes of a process are and have counted to @classes, which is unchanged when its
 * segment cannot be read (-1; else 0). */
int switch_read(const struct store_segment *s, struct classes *classes);

/** What of a process is not traced, as "p2p off, wait@world count"; "" when all is. Returns @buf.
 */
const char *switch_modes(const struct store_segment *s, char *buf, size_t n);

/**
 * Carry @ask out as far as the leaf @place goes: on those processes of the run in @said that this
 * node holds and that have a thread with an element of the class's channel that the view selects.
 * The mode byte is a process's, so all its threads follow. Only living processes are switched. For
 * fanout_command_host.carry, which see.
 */
void switch_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		  const struct plan_place *place, struct classes *classes, Evspace__Host *host,
		  struct fanout_command_said *said);

#endif
