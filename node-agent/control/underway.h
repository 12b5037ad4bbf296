/* SPDX-License-Identifier: BSD-3-Clause */
/* The unanswered requests of one connection, bounded for each kind and dropped at its end:
 * commands, searches and reports. */
#ifndef EVSPACE_UNDERWAY_H
#define EVSPACE_UNDERWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "pathmap/base/error.h"
#include "tree/scope/fanout-command.h"
#include "tree/wire/wire.h"

struct underway;
LIST_HEAD(underway_list, underway);

struct underway_kind {
	unsigned most;	  /* of one connection */
	const char *what; /* "questions ... are under way" */
	/* The connection has ended: drop the request, and remove it from the list. */
	void (*end)(struct underway *u);
};

/** A request. Embed it as the first member; the owner inserts and removes it. */
struct underway {
	LIST_ENTRY(underway) entry;
	const struct underway_kind *kind;
};

/** May there be another request of @kind? Returns 0, or -1 with EMFILE and @e. */
int underway_check(const struct underway_list *list, const struct underway_kind *kind,
		   struct error *e);

/** Drop all requests. */
void underway_end_all(struct underway_list *list);

struct lasting;
struct link;
struct plan;
struct plan_wish;
struct session_host;

/**
 * Carry out a command of the peer of @link, if it may, and answer it later. Commands under way are
 * in @list; those that change something are logged in the audit, of what is in @lasting the first.
 * Returns 0, or -1 with errno and @e.
 */
int commanded_take(struct session_host *host, struct underway_list *list, struct lasting *lasting,
		   struct link *link, const Evspace__SwitchAsk *ask, struct error *e);

/** Drop a command that still awaits hosts. */
void commanded_close(struct underway_list *list, uint32_t scope);

/** Carry out the command @ask in the processes of this host, as fanout_command_host says. */
void commanded_carry(const struct session_host *sessions, const Evspace__SwitchAsk *ask,
		     const struct plan_place *place, struct classes *classes, Evspace__Host *host,
		     struct fanout_command_said *said);

/** Does the command change anything? */
bool commanded_changes(const Evspace__SwitchAsk *ask);

/** Log in the audit that a command that would change something was refused because of @e. Keeps
 * errno. */
void commanded_refused(struct session_host *host, struct link *link, const Evspace__SwitchAsk *ask,
		       const struct error *e);

/** The plan, from here down, of what the peer of @link wishes to see of @run. Writes the run to
 * @chosen if it is known; @awaited: it need not exist yet. NULL with @e. */
struct plan *commanded_plan(const struct session_host *host, const struct link *link,
			    const struct plan_wish *wish, const char *run, bool awaited,
			    char *chosen, size_t room, struct error *e);

/** Must the run be searched for? Yes if @frame is a consumer's Open, SwitchAsk or question for
 * process tables that names no run, and this is the entry of a map of several nodes. A command that
 * names its run waits, too, while that of an earlier one in @list is searched for: they are carried
 * out in turn. */
bool search_needed(const struct session_host *host, const struct underway_list *list,
		   const Evspace__Frame *frame);

/**
 * Ask all agents for their runs that @frame's peer at @link may see. Then @found is called from the
 * loop with the frame, which names the run now: the only live one, else the one that began last, or
 * "" if there is none. Or it is called with an error: several are live, or a host does not answer,
 * so that the run is not certain (a frame that changes nothing accepts what was found all the
 * same). Searches under way are in @list. Returns 0, or -1 with errno and @e.
 */
int search_begin(const struct session_host *host, struct underway_list *list, struct link *link,
		 const Evspace__Frame *frame,
		 void (*found)(void *arg, const Evspace__Frame *frame, const struct error *e),
		 void *arg, struct error *e);

/** The scope number for errors about such a frame. */
uint32_t search_scope(const Evspace__Frame *frame);

/** Drop the search for a scope that is closed. */
void search_close(struct underway_list *list, uint32_t scope);

/**
 * Answer @ask on @link, now or later: for this agent alone, for its place and those below, or, at
 * the entry, for all agents of the map. Questions under way are in @list. Returns 0, or -1 with
 * errno and @e.
 */
int report_take(const struct session_host *host, struct underway_list *list, struct link *link,
		const Evspace__StatusAsk *ask, struct error *e);

#endif
