/* SPDX-License-Identifier: BSD-3-Clause */
/* What elements become when a map is applied: the command that gives those that exist already the
 * lifetimes and modes which it says of their names, and its result. */
#ifndef EVSPACE_REMAP_ELEMENTS_H
#define EVSPACE_REMAP_ELEMENTS_H

#include "pathmap/plan/plan.h"
#include "tree/scope/fanout-command.h"
#include "tree/wire/wire.h"

struct session_host;

/** Plain data; zero at first. */
struct remap_elements {
	struct session_host *host;
	void (*answered)(void *arg, Evspace__Host *const *hosts, size_t n);
	void (*done)(void *arg); /* all hosts have answered, or are late */
	void *arg;
	struct fanout_command_host carrier;
	struct fanout_command *command; /* NULL: none is under way */
	Evspace__SwitchAsk *order;	/* what it says; NULL: elements stay as they are */
	uint32_t lifetimes, classes;	/* elements with another one; switched */
	Evspace__Unready **unchanged;	/* hosts where elements stay, or some do */
	size_t n_unchanged;
};

/** Find out what elements become, before the map in effect is freed. */
void remap_elements_prepare(struct remap_elements *x, const struct pathmap *from,
			    const struct pathmap *to);

/** The map is in effect: send the command to all hosts of @plan, for @peer (the asker's name), who
 * is @who in logs. done() comes from the loop, unless there is nothing to do. */
void remap_elements_begin(struct remap_elements *x, const struct plan *plan, const char *peer,
			  const char *who);

/** Note the hosts whose elements are not yet as the map in effect says. */
void remap_elements_behind(struct remap_elements *x);

/** Has the host of this answer not been there? */
bool remap_elements_away(const Evspace__Host *host);

/** Send @order to all leaves from @root down, which are this host and those below. Of @carrier
 * carry(), done() and arg are set. NULL with @e. */
struct fanout_command *remap_elements_command(struct fanout_command_host *carrier,
					      struct session_host *host,
					      const Evspace__SwitchAsk *order,
					      const struct plan_place *root, struct error *e);

/** Forget all but who asks; agents that have the command go on with it. */
void remap_elements_end(struct remap_elements *x);

#endif
