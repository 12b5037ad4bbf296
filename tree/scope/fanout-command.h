/* SPDX-License-Identifier: BSD-3-Clause */
/* A command to switch classes of operations or to discard, on its way down a view's tree, and its
 * results on their way up. */
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

/** The result of a command on a host, in words. */
struct fanout_command_said {
	char run[64];
	char why[256];
};

/** What the process provides that carries out commands. Outlives them. */
struct fanout_command_host {
	struct event_base *base;
	struct child_set *children;
	/* Carry out @ask on this host's processes, as far as the leaf @place covers them: add their
	 * classes, as they are then, to @classes; set in @host (its name is set) how many processes
	 * there are and were changed; set in @said the text of @host, if any, and the run ("":
	 * none). */
	void (*carry)(void *arg, const Evspace__SwitchAsk *ask, const struct plan_place *place,
		      struct classes *classes, Evspace__Host *host,
		      struct fanout_command_said *said);
	/* Can a run have this name? */
	bool (*is_run)(const char *name);
	/* The answer was sent: call fanout_command_free() now. */
	void (*done)(void *arg, struct fanout_command *command);
	void *arg;
};

/**
 * Carry out @ask (with its place) here, pass it on to all children, and answer with Switched to @up
 * when all have answered or its deadline has passed, never before this returns; if it awaits them,
 * also by hosts that can be reached only later. The answer names hosts that have not answered. @up
 * may be NULL: then done() is all. Returns NULL with EPROTO and
 * @e. The caller frees it, at the latest when @up is gone.
 */
struct fanout_command *fanout_command_new(const struct fanout_command_host *host, struct link *up,
					  const Evspace__SwitchAsk *ask, struct error *e);

/** The hosts with a result so far. For the caller to free() the list; the hosts stay. */
Evspace__Host **fanout_command_hosts(const struct fanout_command *command, size_t *n);

/** Has any host that answered carried out anything? */
bool fanout_command_changed(const struct fanout_command *command);

/** The result of a finished command in words: "4 processes on 2 of 3 hosts". Returns @buf. */
const char *fanout_command_outcome(const struct fanout_command *command, char *buf, size_t n);

/** Forget it, answered or not. NULL is fine. */
void fanout_command_free(struct fanout_command *command);

#endif
