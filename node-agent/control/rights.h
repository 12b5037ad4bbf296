/* SPDX-License-Identifier: BSD-3-Clause */
/* Rights: what the one at the other end of a link may do and see, by its roles and their limits
 * (docs/rights.md). */
#ifndef EVSPACE_RIGHTS_H
#define EVSPACE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "node-agent/store/store.h"
#include "tree/link/link.h"
#include "tree/wire/wire.h"

/** Has it one of @roles? @what completes "may not …". Returns 0, or -1 with EACCES and @e. */
int rights_may(const struct peer *peer, unsigned roles, const char *what, struct error *e);

/** May it do what concerns all runs? Returns 0, or -1 with EACCES and @e. */
int rights_all(const struct peer *peer, const char *what, struct error *e);

/** Is this host's run of that name within @limits (NULL: there are none)? */
bool rights_within(const struct limits *limits, const char *run);

/** May it see this host's run of that name? */
bool rights_see(const struct peer *peer, const char *run);

/** May it see a run of that name of the agent which @status is of? */
bool rights_see_there(const struct peer *peer, const Evspace__Status *status, const char *run);

/**
 * The run that it means by @run. Named: one that it may see, and when @alone (nobody else holds
 * any) one that is in @store. Not named: the only live one in @store that it may see, or the only
 * one that it is limited to, else "": nothing is here. Written to @chosen. Returns 0, or -1 with
 * errno and @e, which names only runs that it may see.
 */
int rights_run(const struct peer *peer, const struct store *store, const char *run, bool alone,
	       char *chosen, size_t room, struct error *e);

#endif
