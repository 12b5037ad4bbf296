/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches of this host's processes: reads their classes and counts, and changes modes. */
#ifndef EVSPACE_SWITCH_H
#define EVSPACE_SWITCH_H

#include <stddef.h>

#include "node-agent/source/source.h"
#include "tree/scope/fanout-command.h"
#include "tree/scope/classes.h"

/** Add the classes of a process with their counts to @classes. Returns 0, or -1 when its segment
 * cannot be read; then @classes is unchanged. */
int switch_read(const struct store_segment *s, struct classes *classes);

/** Write which classes of a process are not traced, as "p2p off, wait@world count"; "" if all
 * are. Returns @buf. */
const char *switch_modes(const struct store_segment *s, char *buf, size_t n);

/** Are there the modes that @ask switches to, one for each choice? Returns 0, or -1 with EINVAL
 * and @e. */
int switch_check(const Evspace__SwitchAsk *ask, struct error *e);

/**
 * Carry out @ask on the leaf @place: in processes of the run in @said that this node holds, if the
 * view selects an element of the class's channel in one of their threads. Modes are per process, so
 * all its threads change. Only living processes are switched. See fanout_command_host.carry.
 */
void switch_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		  const struct plan_place *place, struct classes *classes, Evspace__Host *host,
		  struct fanout_command_said *said);

/** Switch the classes of all living processes of @place to what @ask says of their elements' names,
 * each once (node-agent/control/properties.h); add their number to @host. */
void switch_details(const struct source_host *here, const Evspace__SwitchAsk *ask,
		    const struct plan_place *place, Evspace__Host *host,
		    struct fanout_command_said *said);

#endif
