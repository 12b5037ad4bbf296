/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins commands that peers may give, logs them in the audit, and discards tuples of this
 * host's elements. */
#include "node-agent/control/underway.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/audit.h"
#include "pathmap/base/folder-base.h"
#include "node-agent/control/properties.h"
#include "node-agent/control/rights.h"
#include "node-agent/control/session.h"
#include "node-agent/segment/segment-mark.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/source/label.h"
#include "node-agent/store/store-run.h"
#include "node-agent/control/lasting.h"
#include "node-agent/control/made.h"
#include "node-agent/control/steering.h"
#include "node-agent/control/switch.h"
#include "node-agent/control/functions.h"
#include "node-agent/control/telling.h"
#include "node-agent/control/trials.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tree/data/clock.h"
#include "tree/scope/fanout-command.h"
#include "tree/wire/wire-place.h"

/* ---- discarding ---- */

/* The state of a discard in the elements of a process. */
struct discarding {
	const struct source_host *here;
	const Evspace__SwitchAsk *ask;
	const struct plan_place *place;
	const struct store_segment *s;
	struct segment_mark *marks;
	uint32_t at, n; /* the current element, and their number */
	struct segment_element element;
	bool complete, changed;
	char name[NAME_BYTES]; /* its name, if it is selected */
	uint64_t discarded;
};

/* Copy the current element's entry, if it is complete. */
static int discard_look(void *arg)
{
	struct discarding *d = arg;
	const struct segment_element *entry = segment_element(&d->s->segment, d->at);

	d->n = segment_elements_readable(&d->s->segment);
	d->complete = entry != NULL;
	if (entry)
		memcpy(&d->element, entry, sizeof(d->element));
	return 0;
}

static int discard_mark(void *arg)
{
	struct discarding *d = arg;

	d->changed = true;
	d->discarded = segment_discard(&d->s->segment, d->marks, d->at);
	return 0;
}

static bool discard_selects_name(const Evspace__SwitchAsk *a, const char *name)
{
	return source_selects(a->select, a->n_select, name) &&
	       (a->n_within == 0 || source_selects(a->within, a->n_within, name));
}

/* Set what the command says of the element with this name. */
static int lifetime_mark(void *arg)
{
	struct discarding *d = arg;
	_Atomic uint64_t *lifetime = segment_marks_lifetime(&d->s->segment, d->marks, d->at);
	uint64_t ns;

	d->changed = lifetime && properties_lifetime(d->ask, d->name, &ns) &&
		     atomic_exchange_explicit(lifetime, ns, memory_order_relaxed) != ns;
	return 0;
}

/* Does the command select the element, by its name in sources? Fetched ones are discarded where
 * they are read. */
static bool discard_selects(struct discarding *d)
{
	char node[SOURCE_NODE];

	return !source_remote(d->here, d->s, &d->element, node) &&
	       label_name(d->name, d->place, d->s, &d->element, d->here->sites) == 0 &&
	       (!d->ask->discard || discard_selects_name(d->ask, d->name));
}

/* Returns 0, or -1 with errno when the process's segment cannot be read or written. */
static int discard_process(struct discarding *d, Evspace__Host *host)
{
	bool any = false;

	for (d->at = 0, d->n = 1; d->at < d->n; d->at++) {
		if (segment_guarded(discard_look, d) < 0)
			return -1;
		if (!d->complete || d->element.thread == SEGMENT_NO_THREAD || !discard_selects(d))
			continue;
		if (segment_guarded(d->ask->discard ? discard_mark : lifetime_mark, d) < 0)
			return -1;
		any = true;
		host->changed += d->changed;
		host->discarded += d->discarded;
	}
	host->processes += any;
	return 0;
}

/* Returns whether the command is about the mirror's element. */
static bool discard_mirror(const struct discarding *d, struct mirror *m, Evspace__Host *host)
{
	char name[2 * NAME_BYTES];
	uint64_t ns;

	mirror_name(m, d->here->map, name, sizeof(name));
	if (d->ask->discard ? !discard_selects_name(d->ask, name)
			    : !properties_lifetime(d->ask, name, &ns))
		return false;
	host->changed += d->ask->discard || mirror_lifetime_set(m, ns);
	host->discarded += d->ask->discard ? mirror_discard(m) : 0;
	return true;
}

/* The same in this node's mirrors. */
static void discard_mirrors(const struct discarding *d, const char *run, Evspace__Host *host)
{
	struct store_mirror *s;
	bool any = false;

	TAILQ_FOREACH (s, &d->here->store->mirrors, link) {
		if (properties_mean(d->ask, run, s->mirror.origin.run) &&
		    strcmp(s->mirror.holder, d->here->node) == 0)
			any |= discard_mirror(d, &s->mirror, host);
	}
	host->processes += any;
}

/*
 * Mark elements on the leaf @place: what those hold that @ask selects is discarded, for all
 * readers; or they get other lifetimes by their names. Adds to @host the numbers of processes,
 * elements
 * (`changed`) and tuples. The run is that of @said, which also gets the reasons for failures.
 */
static void discard_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
			  const struct plan_place *place, Evspace__Host *host,
			  struct fanout_command_said *said)
{
	struct discarding d = {.here = here, .ask = ask, .place = place};

	TAILQ_FOREACH (d.s, &here->store->segments, link) {
		if (!properties_mean(ask, said->run, d.s->run) || !source_holds(here, place, d.s))
			continue;
		d.marks = segment_marks_map(&d.s->segment);
		if (!d.marks || discard_process(&d, host) < 0)
			snprintf(said->why, sizeof(said->why),
				 "%s (pid %d): its marks cannot be changed: %s", d.s->name,
				 (int)d.s->pid, strerror(errno));
		segment_marks_unmap(&d.s->segment, d.marks);
	}
	discard_mirrors(&d, said->run, host);
	sites_rest(here->sites);
}

/* ---- commands ---- */

struct commanded {
	struct underway underway; /* first */
	struct session_host *sessions;
	struct fanout_command *command;
	struct fanout_command_host host;
	char *who, *what; /* of a command that changes something and begins here; else NULL */
	char *relay;	  /* the agent that has sent it, if one has */
	uint32_t scope;
	bool awaits, news;
};

static void commanded_free(struct commanded *o)
{
	int saved = errno;

	LIST_REMOVE(&o->underway, entry);
	fanout_command_free(o->command);
	free(o->who);
	free(o->what);
	free(o->relay);
	free(o);
	errno = saved;
}

static void commanded_end(struct underway *u)
{
	struct commanded *o = (struct commanded *)u;
	char outcome[512];

	/* agents that have received it go on with it */
	if (o->who)
		audit_left(o->who, o->what,
			   fanout_command_outcome(o->command, outcome, sizeof(outcome)));
	commanded_free(o);
}

static const struct underway_kind kind = {
	.most = 64,
	.what = "commands are under way on this connection",
	.end = commanded_end,
};

void commanded_close(struct underway_list *list, uint32_t scope)
{
	struct underway *u;

	LIST_FOREACH (u, list, entry) {
		const struct commanded *o = (const struct commanded *)u;

		if (u->kind == &kind && o->awaits && o->scope == scope)
			break;
	}
	if (u)
		commanded_end(u);
}

struct plan *commanded_plan(const struct session_host *host, const struct link *link,
			    const struct plan_wish *wish, const char *run, bool awaited,
			    char *chosen, size_t room, struct error *e)
{
	struct active_map *active_map = host->active_map;
	struct plan *plan = NULL;

	if (active_map_is_entry(active_map, e) < 0)
		return NULL;
	if (active_map_plan(active_map, NULL, wish, NULL, &plan, e) < 0)
		return NULL;
	if (rights_run(link_peer(link), host->sources->store, run, plan->n_places == 1, chosen,
		       room, e) == 0 ||
	    (awaited && errno == ESRCH))
		return plan;
	plan_free(plan);
	return NULL;
}

/* A lease that goes on, functions that stay on, and what programs are told, is no news for the
 * audit. */
static bool is_news(const struct lasting *lasting, const Evspace__SwitchAsk *ask)
{
	return ask->change || ask->discard || ask->trial || ask->n_modes || properties_are(ask) ||
	       lasting_news(lasting, ask, clock_mono_ns());
}

bool commanded_changes(const Evspace__SwitchAsk *ask)
{
	return ask->change || ask->discard || ask->trial || ask->n_modes || properties_are(ask) ||
	       ask->lease || ask->told || ask->functions;
}

static void made_carry(const struct source_host *here, const Evspace__SwitchAsk *ask,
		       struct fanout_command_said *said)
{
	struct error e;

	if (made_keep(here->store, here->node, ask->made->elements, true, &e) < 0)
		snprintf(said->why, sizeof(said->why), "%.250s", e.text);
}

void commanded_carry(const struct session_host *sessions, const Evspace__SwitchAsk *ask,
		     const struct plan_place *place, struct classes *classes, Evspace__Host *host,
		     struct fanout_command_said *said)
{
	const struct source_host *here = sessions->sources;

	if (!limits_own_user(ask->users, ask->n_users)) {
		host->text =
			(char *)(uintptr_t) "its runs belong to a user other than those asked for";
		return;
	}
	snprintf(said->run, sizeof(said->run), "%s",
		 ask->run[0] ? ask->run : store_run_newest(here->store, false));
	host->text = said->why;
	if (ask->told)
		telling_carry(here, ask, place, host, said);
	else if (ask->functions)
		functions_carry(here, ask, place, host, said);
	else if (ask->trial)
		trials_carry(sessions->trials, ask, place, host, said);
	else if (ask->discard || ask->n_lifetimes)
		discard_carry(here, ask, place, host, said);
	if (ask->steered)
		steering_carry(here, ask, place, said);
	if (ask->made)
		made_carry(here, ask, said);
	if (ask->n_details)
		switch_details(here, ask, place, host, said);
	else if (!ask->told && !ask->functions && !ask->trial && !ask->discard &&
		 !properties_are(ask))
		switch_carry(here, ask, place, classes, host, said);
	if (ask->lease)
		trials_watch(sessions->trials);
}

static void carry(void *arg, const Evspace__SwitchAsk *ask, const struct plan_place *place,
		  struct classes *classes, Evspace__Host *host, struct fanout_command_said *said)
{
	const struct commanded *o = arg;
	bool counts = ask->discard || ask->trial || properties_are(ask);

	commanded_carry(o->sessions, ask, place, classes, host, said);
	/* the agent where it began logs the outcome of all */
	if (o->relay && (counts ? host->changed || host->switched : o->news && host->processes))
		audit_carried(o->relay, ask, host, said->run);
}

static void commanded_done(void *arg, struct fanout_command *command)
{
	struct commanded *o = arg;
	char outcome[512];

	if (o->who)
		audit_done(o->who, o->what, !fanout_command_changed(command),
			   fanout_command_outcome(command, outcome, sizeof(outcome)));
	commanded_free(o);
}

/* Make the command, whose run is chosen. */
static struct fanout_command *command_new(struct commanded *o, struct lasting *lasting,
					  struct link *link, const Evspace__SwitchAsk *ask,
					  struct error *e)
{
	struct fanout_command *command;

	o->news = is_news(lasting, ask);
	command = fanout_command_new(&o->host, link, ask, e);
	if (command)
		lasting_keep(lasting, ask, clock_mono_ns());
	return command;
}

/* Make a command that begins here, at the root of the view's tree if it names a view. */
static struct fanout_command *commanded_new(const struct session_host *host, struct link *link,
					    struct lasting *lasting, struct commanded *o,
					    const Evspace__SwitchAsk *ask, struct error *e)
{
	char run[sizeof(((struct store_run *)0)->name)] = "", who[300], what[AUDIT_WHAT];
	const struct peer *peer = link_peer(link);
	Evspace__SwitchAsk whole = *ask;
	struct fanout_command *command;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	struct plan_wish wish;
	struct plan *plan;

	if (ask->place) {
		o->relay = memory_copy(audit_who(peer, who, sizeof(who)));
		return command_new(o, lasting, link, ask, e);
	}
	open.view = ask->view;
	open.run = ask->run;
	wish = active_map_wish(&open);
	plan = commanded_plan(host, link, &wish, ask->run, false, run, sizeof(run), e);
	if (!plan)
		return NULL;
	whole.who = (char *)(uintptr_t)audit_who(peer, who, sizeof(who));
	whole.run = run;
	whole.peer = (char *)(uintptr_t)peer->name;
	whole.within = ask->select;
	whole.n_within = ask->n_select;
	whole.select = plan->select;
	whole.n_select = plan->n_select;
	whole.users = peer->limits ? peer->limits->users : NULL;
	whole.n_users = peer->limits ? peer->limits->n_users : 0;
	whole.place = wire_place_new(plan->root);
	whole.signer = active_map_signer(host->active_map);
	command = command_new(o, lasting, link, &whole, e);
	if (o->news) {
		o->who = memory_copy(who);
		o->what = memory_copy(audit_order(ask, run, what, sizeof(what)));
	}
	wire_place_free(whole.place);
	plan_free(plan);
	return command;
}

static int commanded_begin(struct session_host *host, struct underway_list *list,
			   struct lasting *lasting, struct link *link,
			   const Evspace__SwitchAsk *ask, struct error *e)
{
	const char *what = ask->place		    ? "switch parts of the tree"
			   : ask->discard	    ? "discard what is held"
			   : ask->trial		    ? "make an experiment"
			   : commanded_changes(ask) ? "switch what is collected"
						    : "observe";
	unsigned roles = ask->place		  ? ROLE_AGENT
			 : commanded_changes(ask) ? ROLE_CONTROL
						  : ROLE_OBSERVE | ROLE_CONTROL;
	struct commanded *o;

	if (rights_may(link_peer(link), roles, what, e) < 0 || underway_check(list, &kind, e) < 0)
		return -1;
	if (!ask->place && switch_check(ask, e) < 0)
		return -1;
	/* these are of the elements of all runs */
	if (!ask->place && properties_are(ask) && rights_all(link_peer(link), what, e) < 0)
		return -1;
	o = memory_new(1, sizeof(*o));
	o->underway.kind = &kind;
	o->scope = ask->scope;
	o->awaits = ask->awaits;
	o->sessions = host;
	o->host = (struct fanout_command_host){
		.base = host->base,
		.children = host->scopes->children,
		.carry = carry,
		.is_run = folder_is_run,
		.done = commanded_done,
		.arg = o,
	};
	LIST_INSERT_HEAD(list, &o->underway, entry);
	o->command = commanded_new(host, link, lasting, o, ask, e);
	if (o->command)
		return 0;
	commanded_free(o);
	return -1;
}

void commanded_refused(struct session_host *host, struct link *link, const Evspace__SwitchAsk *ask,
		       const struct error *e)
{
	char what[AUDIT_WHAT];
	int saved = errno;

	if (commanded_changes(ask))
		audit_refused(&host->failed, link_peer(link),
			      audit_order(ask, ask->run, what, sizeof(what)), e->text);
	errno = saved;
}

int commanded_take(struct session_host *host, struct underway_list *list, struct lasting *lasting,
		   struct link *link, const Evspace__SwitchAsk *ask, struct error *e)
{
	int rc = commanded_begin(host, list, lasting, link, ask, e);

	if (rc < 0)
		commanded_refused(host, link, ask, e);
	return rc;
}
