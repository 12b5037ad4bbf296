/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares trees by another map, and commits it or gives up. */
#include "node-agent/control/remap.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/arrears.h"
#include "node-agent/control/audit.h"
#include "node-agent/control/defined.h"
#include "node-agent/control/judgement.h"
#include "node-agent/control/remap-check.h"
#include "node-agent/control/remap-elements.h"
#include "node-agent/control/remap-notes.h"
#include "node-agent/control/remap-probe.h"
#include "node-agent/control/session.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/utf8.h"
#include "tree/data/clock.h"
#include "tree/stage/stage.h"
#include "tree/wire/wire-place.h"

/* How long hosts may take to open the new trees, and how often to check whether they have. */
#define PREPARE_NS    3000000000u
#define LOOK_AGAIN_MS 20

enum state { REST, PREPARING, SWITCHING };

struct remap {
	struct session_host *host;
	struct event *look;
	enum state state;
	struct link *asker; /* NULL: it has left */
	char peer[128], who[300];
	const char *what;
	bool dry_run;
	struct active_map_draft draft;
	struct remap_probe before, after;
	uint64_t began_ns, committed_ns;
	unsigned switched;
	struct remap_elements elements;
	struct arrears *arrears;
	struct remap_notes notes;
	struct judgement judgement; /* of the hosts, as they answered last */
};

/* Hear the old trees and the new ones, which have settled, or have had their time. */
static void remap_judge(struct remap *r)
{
	struct opened *o;

	judgement_fini(&r->judgement);
	r->judgement = (struct judgement){.before = r->before.plan->root, .map = r->draft.map};
	scope_unready(r->before.scope, judgement_before, &r->judgement);
	LIST_FOREACH (o, &r->host->views, view)
		scope_unready(o->scope, judgement_was, &r->judgement);
	scope_unready(r->after.scope, judgement_after, &r->judgement);
	LIST_FOREACH (o, &r->host->views, view) {
		if (o->next)
			scope_unready(o->next, judgement_after, &r->judgement);
	}
}

/* ---- ending ---- */

/* Go back to rest; drop what was not committed. */
static void remap_rest(struct remap *r)
{
	struct opened *o;

	remap_probe_end(&r->before);
	remap_probe_end(&r->after);
	LIST_FOREACH (o, &r->host->views, view) {
		if (r->state == PREPARING)
			opened_give_up(o);
	}
	active_map_draft_fini(&r->draft);
	judgement_fini(&r->judgement);
	remap_elements_end(&r->elements);
	remap_notes_fini(&r->notes);
	event_del(r->look);
	r->asker = NULL;
	r->state = REST;
}

/* @audited: how it stands in the log. */
static void remap_give_up(struct remap *r, int number, const char *why, const char *audited)
{
	struct error e;

	errorf(&e, "%s; nothing has changed", audited);
	audit_failed(&r->host->failed, r->peer, r->who, r->what, e.text);
	errorf(&e, "%s; nothing has changed", why);
	if (r->asker)
		link_send_error(r->asker, 0, number, e.text);
	remap_rest(r);
}

static void remap_fail(struct remap *r, int number, const char *why)
{
	remap_give_up(r, number, why, why);
}

/* Who asked gets all of a host's words. */
static void remap_refused(struct remap *r, int number, const struct judgement_fault *f)
{
	char quoted[UTF8_QUOTED];
	struct error why, audited;

	errorf(&why, "%s%s: %.900s", f->node, f->what, f->text);
	errorf(&audited, "%s%s: %s", f->node, f->what, utf8_quote(f->text, quoted));
	remap_give_up(r, number, why.text, audited.text);
}

static unsigned elapsed_ms(uint64_t from, uint64_t to)
{
	return (unsigned)((to - from) / 1000000u);
}

static void remap_reply(struct remap *r, uint64_t committed_ns, uint64_t now)
{
	Evspace__MapApplied applied = EVSPACE__MAP_APPLIED__INIT;

	applied.generation = r->host->active_map->generation + (r->dry_run ? 1 : 0);
	applied.scopes = r->switched;
	applied.prepared_ms = elapsed_ms(r->began_ns, committed_ns);
	applied.switched_ms = elapsed_ms(committed_ns, now);
	applied.missing = r->judgement.missing;
	applied.n_missing = r->judgement.n_missing;
	applied.lifetimes = r->elements.lifetimes;
	applied.classes = r->elements.classes;
	applied.unchanged = r->elements.unchanged;
	applied.n_unchanged = r->elements.n_unchanged;
	applied.notes = r->notes.texts;
	applied.n_notes = r->notes.n;
	if (r->asker)
		link_send(r->asker, &WIRE_FRAME(MAP_APPLIED, map_applied, &applied), NULL);
}

static void remap_finish(struct remap *r)
{
	uint64_t now = clock_mono_ns();
	const struct remap_elements *x = &r->elements;
	char outcome[256];

	snprintf(outcome, sizeof(outcome),
		 "map generation %llu: prepared in %u ms, %u open scope%s switched in %u ms, %u "
		 "element%s with another lifetime, %u class%s switched",
		 (unsigned long long)r->host->active_map->generation,
		 elapsed_ms(r->began_ns, r->committed_ns), r->switched, plural(r->switched, "s"),
		 elapsed_ms(r->committed_ns, now), x->lifetimes, plural(x->lifetimes, "s"),
		 x->classes, plural(x->classes, "es"));
	audit_done(r->who, r->what, false, outcome);
	remap_reply(r, r->committed_ns, now);
	remap_rest(r);
	arrears_renew(r->arrears);
}

/* The map is in effect already. */
static void remap_idle(struct remap *r)
{
	char outcome[128];

	snprintf(outcome, sizeof(outcome), "it is in effect already, as generation %llu",
		 (unsigned long long)r->host->active_map->generation);
	audit_done(r->who, r->what, true, outcome);
	remap_elements_behind(&r->elements);
	r->dry_run = false;
	remap_reply(r, r->began_ns, r->began_ns);
	remap_rest(r);
}

/* ---- prepare ---- */

static void look_soon(void *arg)
{
	struct remap *r = arg;

	event_active(r->look, EV_TIMEOUT, 1);
}

static int scope_bar(struct remap *r, struct opened *o, const struct error *why)
{
	const char *peer = link_peer(o->link)->name;
	int code = errno;
	char *text = memory_format("the map has been changed to one by which this view cannot stay "
				   "open: %s",
				   why->text);

	opened_bar(o, code, text);
	free(text);
	remap_notes_add(&r->notes, "view `%s` of %s ends: %.800s",
			scope_opened_with(o->scope)->view, peer[0] ? peer : "a consumer",
			why->text);
	return 0;
}

/* Rows and cursors of an open scope are of what it has read from the first. */
static bool reads_as_before(const struct plan *plan, const Evspace__Open *open, struct error *e)
{
	if (plan->reading == open->reading &&
	    strcmp(plan->of->sample ? plan->of->sample : "", open->sample) == 0)
		return true;
	errno = EINVAL;
	errorf(e, "by that map it reads otherwise; open it again");
	return false;
}

static int scope_prepare(struct remap *r, struct opened *o, struct error *e)
{
	struct active_map *active_map = r->host->active_map;
	const Evspace__Open *open = scope_opened_with(o->scope);
	const struct plan_wish wish = active_map_wish(open);
	const char *view = open->view;
	struct opened_tree tree;
	struct plan *plan;
	int rc;

	/* What is in no map keeps nobody from another one. */
	if (open->define.len && defined_role(r->draft.map, link_peer(o->link), e) < 0)
		return scope_bar(r, o, e);
	rc = active_map_plan(active_map, &r->draft, &wish, NULL, &plan, e);
	if (rc < 0 && (open->define.len || errno == EPERM))
		return scope_bar(r, o, e);
	if (rc < 0)
		return error_prefix(e, "the view `%s` is open by %s", view,
				    link_peer(o->link)->name[0] ? link_peer(o->link)->name
								: "a consumer");
	if (!reads_as_before(plan, open, e)) {
		plan_free(plan);
		return scope_bar(r, o, e);
	}
	tree = (struct opened_tree){plan->root, active_map->generation + 1,
				    active_map_signer(active_map),
				    defined_window(r->draft.map, plan)};
	rc = opened_prepare(o, &tree, look_soon, r, e);
	plan_free(plan);
	return rc < 0 && open->define.len ? scope_bar(r, o, e) : rc;
}

/* Prepare scopes that are not prepared yet. Returns whether all have settled, or -1 with @e. */
static int remap_prepare(struct remap *r, struct error *e)
{
	bool settled = r->before.settled && r->after.settled;
	struct opened *o;

	LIST_FOREACH (o, &r->host->views, view) {
		if (!o->next && !o->barred && scope_prepare(r, o, e) < 0)
			return -1;
		settled = settled && (o->barred || o->next_settled);
	}
	return settled;
}

/* ---- commit ---- */

static void remap_commit(struct remap *r)
{
	struct active_map *active_map = r->host->active_map;
	struct error e;

	remap_elements_prepare(&r->elements, active_map->map, r->draft.map);
	if (active_map_take(active_map, &r->draft, &e) < 0) {
		remap_fail(r, errno, e.text);
		return;
	}
	r->state = SWITCHING;
	r->host->map_changed(r->host);
	for (struct opened *o = LIST_FIRST(&r->host->views), *next; o; o = next) {
		next = LIST_NEXT(o, view);
		/* a scope that was opened after the last look has the new map already */
		if (!o->next && !o->barred)
			continue;
		r->switched += o->next != NULL;
		opened_switch(o);
	}
	arrears_begin(r->arrears, r->elements.order ? r->after.plan : NULL);
	remap_elements_begin(&r->elements, r->after.plan, r->peer, r->who);
	remap_probe_end(&r->before);
	remap_probe_end(&r->after);
	look_soon(r);
}

static void look_preparing(struct remap *r)
{
	static const struct timeval again = {0, LOOK_AGAIN_MS * 1000};
	bool late = clock_mono_ns() - r->began_ns > PREPARE_NS;
	const struct judgement *j = &r->judgement;
	struct error e;
	int settled = remap_prepare(r, &e);

	if (settled < 0) {
		remap_fail(r, errno, e.text);
		return;
	}
	if (!settled && !late)
		return;
	remap_judge(r);
	r->committed_ns = clock_mono_ns();
	if (j->refused.node) {
		remap_refused(r, EEXIST, &j->refused);
	} else if (j->absent.node && late) {
		remap_refused(r, EHOSTUNREACH, &j->absent);
	} else if (j->absent.node) {
		/* look again: a host further down may have been waited for meanwhile */
		evtimer_add(r->look, &again);
	} else if (r->dry_run) {
		remap_reply(r, r->committed_ns, r->committed_ns);
		remap_rest(r);
	} else {
		remap_commit(r);
	}
}

static void look_switching(struct remap *r)
{
	const struct opened *o;

	LIST_FOREACH (o, &r->host->views, view) {
		if (o->switching)
			return;
	}
	if (!r->elements.command)
		remap_finish(r);
}

static void remap_look(evutil_socket_t fd, short what, void *arg)
{
	struct remap *r = arg;

	(void)fd;
	(void)what;
	if (r->state == PREPARING)
		look_preparing(r);
	else if (r->state == SWITCHING)
		look_switching(r);
}

/* ---- from sessions ---- */

static int remap_texts(struct remap *r, const Evspace__MapApply *apply, struct error *e)
{
	const struct active_map *active_map = r->host->active_map;

	if (apply->expected && apply->expected != active_map->generation) {
		errno = ESTALE;
		return errorf(e,
			      "the map was changed meanwhile: it is generation %llu now, not %llu; "
			      "look at it again (evspace map diff)",
			      (unsigned long long)active_map->generation,
			      (unsigned long long)apply->expected);
	}
	if (!apply->texts && !active_map->before) {
		errno = ENOENT;
		return errorf(e, "there is no map before this one");
	}
	if (apply->texts)
		texts_set(&r->draft.texts, apply->texts->application, apply->texts->cluster,
			  apply->texts->mapping);
	else
		texts_set(&r->draft.texts, active_map->previous.application,
			  active_map->previous.cluster, active_map->previous.mapping);
	return active_map_draft_make(&r->draft, active_map, e);
}

static int remap_refuse(struct remap *r)
{
	int number = errno;

	remap_rest(r);
	errno = number;
	return -1;
}

int remap_begin(struct remap *r, struct link *asker, const Evspace__MapApply *apply,
		struct error *e)
{
	if (r->state != REST) {
		errno = EBUSY;
		return errorf(e, "%s is applying a map already; nothing has changed", r->who);
	}
	snprintf(r->peer, sizeof(r->peer), "%s", link_peer(asker)->name);
	audit_who(link_peer(asker), r->who, sizeof(r->who));
	r->what = audit_map(apply);
	r->state = PREPARING;
	r->asker = asker;
	r->dry_run = apply->dry_run;
	r->began_ns = clock_mono_ns();
	r->switched = 0;
	if (active_map_is_entry(r->host->active_map, e) < 0 || remap_texts(r, apply, e) < 0)
		return remap_refuse(r);
	if (texts_equal(&r->draft.texts, &r->host->active_map->texts)) {
		remap_idle(r);
		return 0;
	}
	if (remap_check(r->host, r->draft.map, e) < 0 ||
	    remap_probe_begin(&r->before, asker, NULL, r->draft.map, e) < 0 ||
	    remap_probe_begin(&r->after, asker, &r->draft, NULL, e) < 0)
		return remap_refuse(r);
	remap_notes_stages(&r->notes, r->draft.map);
	look_soon(r);
	return 0;
}

void remap_scopes_changed(struct remap *r)
{
	if (r->state != REST)
		look_soon(r);
}

void remap_forget(struct remap *r, const struct link *link)
{
	if (r->asker != link)
		return;
	r->asker = NULL;
	if (r->state == PREPARING)
		remap_fail(r, ECANCELED, "who asked for it has left");
}

static void elements_answered(void *arg, Evspace__Host *const *hosts, size_t n)
{
	const struct remap *r = arg;

	arrears_add(r->arrears, hosts, n);
}

struct remap *remap_new(struct session_host *host)
{
	struct remap *r = memory_new(1, sizeof(*r));

	r->host = host;
	r->before = r->after = (struct remap_probe){.host = host, .done = look_soon, .arg = r};
	r->arrears = arrears_new(host);
	r->elements = (struct remap_elements){
		.host = host, .answered = elements_answered, .done = look_soon, .arg = r};
	r->look = evtimer_new(host->base, remap_look, r);
	if (!r->look)
		abort();
	return r;
}

void remap_free(struct remap *r)
{
	if (!r)
		return;
	remap_rest(r);
	arrears_free(r->arrears);
	event_free(r->look);
	free(r);
}
