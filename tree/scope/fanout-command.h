/* SPDX-License-Identifier: BSD-3-Clause */
/* A command to switch classes of operations or to discard, on its way down a view's tree and back
 * with what came of it. */
#ifndef EVSPACE_FANOUT_COMMAND_H
#define EVSPACE_FANOUT_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/child.h"
#include "tree/scope/classes.h"

struct event_base;
struct fanout_command;

/** What is said of a command that was carried out on a host. */
struct fanout_command_said {
	char run[64];
	char why[160];
};

/** What the process that carries commands out gives to them. Outlives them. */
struct fanout_command_host {
	struct event_base *base;
	struct child_set *children;
	/* Carry @ask out on this host's processes, as far as the leaf @place goes: add what their
	   classes are now to @classes, and say in @host (its name is set) how many there are and
	   were changed; host->text, if any, and the run that it took ("": there is none) are in
	   @said. */
	void (*carry)(void *arg, const Evspace__SwitchAsk *ask, const struct plan_place *place,
		      struct classes *classes, Evspace__Host *host,
		      struct fanout_command_said *said);
	/* Can a run have that name? */
	bool (*is_run)(const char *name);
	/* The answer was sent: fanout_command_free() it now. */
	void (*done)(void *arg, struct fanout_command *command);
	void *arg;
};

/**
 * Carry @ask (with its place) out here, pass it on to all children, and answer with Switched to @up
 * when all have answered, or its deadline has passed; that is never before this returns. Who has
 * not answered is named in the answer. Returns NULL with EPROTO and @e. The caller frees it, at the
 * latest when @up is gone.
 */
struct fanout_command *fanout_command_new(const struct fanout_command_host *host, struct link *up,
					  const Evspace__SwitchAsk *ask, struct error *e);

/** Has any host that answered had something to do? */
bool fanout_command_changed(const struct fanout_command *command);

/** What came of a command that is done, in words: "4 processes on 2 of 3 hosts". Returns @buf. */
const char *fanout_command_outcome(const struct fanout_command *command, char *buf, size_t n);

/** Forget it, answered or not. NULL is fine. */
void fanout_command_free(struct fanout_command *command);

#endif
