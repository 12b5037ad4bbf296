/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins orders for those who may give them, and tells the audit what came of each. */
#include "node-agent/control/ordered.h"

#include <errno.h>
#include <stdlib.h>

#include "node-agent/control/audit.h"
#include "node-agent/control/discard.h"
#include "pathmap/base/folder-base.h"
#include "node-agent/control/rights.h"
#include "node-agent/control/session.h"
#include "node-agent/store/store-run.h"
#include "node-agent/control/switch.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/order.h"
#include "tree/wire/wire-place.h"

/* That one connection may have under way. */
#define ORDERS_MOST 64u

struct ordered {
	LIST_ENTRY(ordered) entry;
	struct session_host *sessions;
	struct order *order;
	struct order_host host;
	char *who, *what; /* of one that changes something and begins here; else NULL */
	char *relay;	  /* of one that an agent has sent: that agent */
};

static void ordered_free(struct ordered *o)
{
	int saved = errno;

	LIST_REMOVE(o, entry);
	order_free(o->order);
	free(o->who);
	free(o->what);
	free(o->relay);
	free(o);
	errno = saved;
}

void ordered_end_all(struct ordered_list *list)
{
	struct ordered *o;
	char outcome[512];

	/* It goes on where it has arrived. */
	while ((o = LIST_FIRST(list))) {
		if (o->who)
			audit_left(o->who, o->what,
				   order_outcome(o->order, outcome, sizeof(outcome)));
		ordered_free(o);
	}
}

struct plan *ordered_plan(const struct session_host *host, const struct link *link,
			  const char *view, const char *run, bool awaited, char *chosen,
			  size_t room, struct error *e)
{
	struct active_map *active_map = host->active_map;
	struct plan *plan = NULL;

	if (active_map_is_entry(active_map, e) < 0)
		return NULL;
	if (active_map_plan(active_map, NULL, view, run, NULL, &plan, e) < 0)
		return NULL;
	if (rights_run(link_peer(link), host->sources->store, run, plan->n_places == 1, chosen,
		       room, e) == 0 ||
	    (awaited && errno == ENOENT))
		return plan;
	plan_free(plan);
	return NULL;
}

static void ordered_carry(void *arg, const Evspace__SwitchAsk *ask, const struct plan_place *place,
			  struct classes *classes, Evspace__Host *host, struct order_said *said)
{
	const struct ordered *o = arg;
	const struct source_host *here = o->sessions->sources;

	if (!limits_own_user(ask->users, ask->n_users)) {
		host->text = (char *)(uintptr_t) "its runs are of a user that is not asked for";
		return;
	}
	snprintf(said->run, sizeof(said->run), "%s",
		 ask->run[0] ? ask->run : store_run_newest(here->store, false));
	host->text = said->why;
	if (ask->discard)
		discard_carry(here, ask, place, host, said);
	else
		switch_carry(here, ask, place, classes, host, said);
	/* Where it began, a line says what came of it everywhere. */
	if (o->relay && (ask->discard ? host->changed : ask->change && host->processes))
		audit_carried(o->relay, ask, host, said->run);
}

static void ordered_done(void *arg, struct order *order)
{
	struct ordered *o = arg;
	char outcome[512];

	if (o->who)
		audit_done(o->who, o->what, !order_changed(order),
			   order_outcome(order, outcome, sizeof(outcome)));
	ordered_free(o);
}

/* Is it more than a question? */
static bool changes(const Evspace__SwitchAsk *ask)
{
	return ask->change || ask->discard;
}

/* The order begins here, or at the root of the view's tree, which is here. */
static struct order *ordered_new(const struct session_host *host, struct link *link,
				 struct ordered *o, const Evspace__SwitchAsk *ask, struct error *e)
{
	char run[sizeof(((struct store_run *)0)->name)] = "", who[300], what[AUDIT_WHAT];
	const struct peer *peer = link_peer(link);
	Evspace__SwitchAsk whole = *ask;
	struct order *order;
	struct plan *plan;

	if (ask->place) {
		o->relay = memory_copy(audit_who(peer, who, sizeof(who)));
		return order_new(&o->host, link, ask, e);
	}
	plan = ordered_plan(host, link, ask->view, ask->run, false, run, sizeof(run), e);
	if (!plan)
		return NULL;
	whole.who = (char *)(uintptr_t)audit_who(peer, who, sizeof(who));
	if (changes(ask)) {
		o->who = memory_copy(who);
		o->what = memory_copy(audit_order(ask, run, what, sizeof(what)));
	}
	whole.run = run;
	whole.within = ask->select;
	whole.n_within = ask->n_select;
	whole.select = plan->select;
	whole.n_select = plan->n_select;
	whole.users = peer->limits ? peer->limits->users : NULL;
	whole.n_users = peer->limits ? peer->limits->n_users : 0;
	whole.place = wire_place_new(plan->root);
	whole.signer = active_map_signer(host->active_map);
	order = order_new(&o->host, link, &whole, e);
	wire_place_free(whole.place);
	plan_free(plan);
	return order;
}

static int ordered_begin(struct session_host *host, struct ordered_list *list, struct link *link,
			 const Evspace__SwitchAsk *ask, struct error *e)
{
	const char *what = ask->place	  ? "switch parts of the tree"
			   : ask->discard ? "discard what is held"
			   : changes(ask) ? "switch what is collected"
					  : "observe";
	unsigned roles = ask->place	? ROLE_AGENT
			 : changes(ask) ? ROLE_CONTROL
					: ROLE_OBSERVE | ROLE_CONTROL;
	struct ordered *o, *other;
	unsigned n = 0;

	if (rights_may(link_peer(link), roles, what, e) < 0)
		return -1;
	LIST_FOREACH (other, list, entry)
		n++;
	if (n >= ORDERS_MOST) {
		errno = EMFILE;
		return errorf(e, "%u orders are under way on this connection already", n);
	}
	o = memory_new(1, sizeof(*o));
	o->sessions = host;
	o->host = (struct order_host){
		.base = host->base,
		.children = host->scopes->children,
		.carry = ordered_carry,
		.is_run = folder_is_run,
		.done = ordered_done,
		.arg = o,
	};
	LIST_INSERT_HEAD(list, o, entry);
	o->order = ordered_new(host, link, o, ask, e);
	if (o->order)
		return 0;
	ordered_free(o);
	return -1;
}

void ordered_refused(struct session_host *host, struct link *link, const Evspace__SwitchAsk *ask,
		     const struct error *e)
{
	char what[AUDIT_WHAT];
	int saved = errno;

	if (changes(ask))
		audit_refused(&host->failed, link_peer(link),
			      audit_order(ask, ask->run, what, sizeof(what)), e->text);
	errno = saved;
}

int ordered_take(struct session_host *host, struct ordered_list *list, struct link *link,
		 const Evspace__SwitchAsk *ask, struct error *e)
{
	int rc = ordered_begin(host, list, link, ask, e);

	if (rc < 0)
		ordered_refused(host, link, ask, e);
	return rc;
}
