/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles frames of consumers and parent agents: opens, asks, closes, commands, and questions
 * for the status. */
#include "node-agent/control/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/audit.h"
#include "node-agent/control/defined.h"
#include "node-agent/control/functions.h"
#include "pathmap/base/folder-base.h"
#include "node-agent/store/monitor.h"
#include "node-agent/control/rights.h"
#include "node-agent/control/shares.h"
#include "node-agent/control/underway.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/pattern.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/classes.h"
#include "tree/wire/wire-place.h"

/* A reader of the monitors' run makes this agent's monitor record until it has gone. */
static void session_monitor(const struct session *s)
{
	struct error e;

	if (monitor_want(s->host->monitor, &e) < 0)
		fprintf(stderr, "evspace agent: cannot monitor itself: %s\n", e.text);
	reaper_look(s->host->reaper);
}

static void session_close_scope(struct session *s, struct opened *o, bool keep)
{
	if (span_is_run(scope_opened_with(o->scope)->run))
		monitor_unwant(s->host->monitor, keep);
	LIST_REMOVE(o, entry);
	if (o->is_view) {
		share_leave(o);
		LIST_REMOVE(o, view);
		remap_scopes_changed(s->host->remap);
	}
	opened_free(o, keep);
	s->n_scopes--;
	s->host->n_scopes--;
	if (keep)
		reaper_note(s->host->reaper);
	if (s->host->n_scopes == 0)
		s->host->rests(s->host);
}

static void session_free(struct session *s)
{
	struct opened *o;

	while ((o = LIST_FIRST(&s->scopes)))
		session_close_scope(s, o, true);
	underway_end_all(&s->underway);
	lasting_fini(&s->lasting);
	remap_forget(s->host->remap, s->link);
	LIST_REMOVE(s, entry);
	s->host->n_sessions--;
	free(s);
}

static void session_end(struct session *s)
{
	struct link *link = s->link;

	session_free(s);
	link_close(link);
}

static struct opened *session_scope(struct session *s, uint32_t number)
{
	struct opened *o;

	LIST_FOREACH (o, &s->scopes, entry) {
		if (scope_number(o->scope) == number)
			return o;
	}
	return NULL;
}

/* ---- opening ---- */

static int session_may(const struct session *s, unsigned roles, const char *what, struct error *e)
{
	return rights_may(link_peer(s->link), roles, what, e);
}

/* Print on stderr, within the rate limit. */
static void session_say(const struct session *s, const char *text)
{
	unsigned long unsaid;

	if (!rate_limit_take(&s->host->said, &unsaid))
		return;
	fprintf(stderr, "evspace agent: %s: %s", link_peer(s->link)->where, text);
	if (unsaid)
		fprintf(stderr, " (and %lu before that, not shown)", unsaid);
	fputc('\n', stderr);
}

/* Decide whether the peer may stand above us, on which it depends what it may send. */
static void session_judge(struct session *s)
{
	link_parent_set(s->link, superior_is(&s->superior, s->host, link_peer(s->link)));
}

/* May the peer stand above us, by the pass that it shows? @what completes "may not …". An
 * accepted pass holds for all later frames. */
static int session_pass(struct session *s, const struct superior_pass *shown, const char *what,
			struct error *e)
{
	bool told = s->superior.why[0] != '\0';

	if (session_may(s, ROLE_AGENT, what, e) < 0)
		return -1;
	if (superior_check(&s->superior, s->host, link_peer(s->link), shown, e) == 0) {
		link_parent_set(s->link, true);
		return 0;
	}
	if (!told)
		session_say(s, e->text);
	errno = EACCES;
	return -1;
}

/* May the peer ask for @place (NULL: nothing), whose pass @signer has signed? */
static int session_above(struct session *s, const Evspace__Place *place, ProtobufCBinaryData signer,
			 const char *what, struct error *e)
{
	return place ? session_pass(s, &(struct superior_pass){place->pass, signer}, what, e) : 0;
}

/* Open a view for a consumer: make the plan, and open its root here. */
static struct scope *session_open_view(struct session *s, const Evspace__Open *open, bool *monitors,
				       struct error *e)
{
	char run[sizeof(((struct store_run *)0)->name)] = "";
	struct plan_wish wish = active_map_wish(open);
	const struct limits *limits = link_peer(s->link)->limits;
	Evspace__Open whole = *open;
	struct scope *scope;
	struct plan *plan;

	if (open->define.len && defined_may(s->host, s->link, open, e) < 0)
		return NULL;
	plan = commanded_plan(s->host, s->link, &wish, open->run, open->wait, run, sizeof(run), e);
	if (!plan)
		return NULL;
	*monitors = span_is_run(run);
	if (*monitors)
		session_monitor(s);
	whole.run = run;
	whole.view = plan->view;
	whole.fetch = (char *)(uintptr_t) "";
	whole.reading = plan->reading;
	whole.sample = (char *)(uintptr_t)(plan->of->sample ? plan->of->sample : "");
	whole.within = open->select;
	whole.n_within = open->n_select;
	whole.select = plan->select;
	whole.n_select = plan->n_select;
	whole.users = limits ? limits->users : NULL;
	whole.n_users = limits ? limits->n_users : 0;
	whole.peer = (char *)(uintptr_t)link_peer(s->link)->name;
	whole.place = wire_place_new(plan->root);
	whole.generation = s->host->active_map->generation;
	whole.signer = active_map_signer(s->host->active_map);
	whole.window = defined_window(s->host->active_map->map, plan);
	/* what a program does about that is up to it */
	whole.tells = (link_peer(s->link)->roles & ROLE_CONTROL) != 0;
	scope = scope_new(s->host->scopes, s->link, &whole, NULL, NULL, e);
	wire_place_free(whole.place);
	plan_free(plan);
	return scope;
}

/* Open a part of a tree for the agent above, on behalf of the consumer that it names, or for
 * itself. */
static struct scope *session_open_part(struct session *s, const Evspace__Open *open,
				       struct error *e)
{
	Evspace__Open part = *open;

	part.window = 0;
	if (!part.peer[0])
		part.peer = (char *)(uintptr_t)link_peer(s->link)->name;
	return scope_new(s->host->scopes, s->link, &part, NULL, NULL, e);
}

/* A map has come that has no place for it. */
static void session_bar(void *session, struct opened *o, int code, const char *why)
{
	struct session *s = session;

	link_send_error(s->link, scope_number(o->scope), code, why);
	session_close_scope(s, o, false);
}

static int session_open(struct session *s, const Evspace__Open *open, struct error *e)
{
	bool monitors = open->place && span_is_run(open->run);
	struct scope *scope;
	struct opened *o;

	if (s->n_scopes >= SESSION_SCOPES) {
		errno = EMFILE;
		return errorf(e, "%u scopes are open on this connection already", SESSION_SCOPES);
	}
	if (open->scope == 0 || session_scope(s, open->scope)) {
		errno = EPROTO;
		return errorf(e, "scope number %u is 0 or in use", open->scope);
	}
	if (open->place ? session_above(s, open->place, open->signer, "open parts of gather trees",
					e) < 0
			: session_may(s, ROLE_OBSERVE | ROLE_CONTROL, "observe", e) < 0 ||
				  opened_again(&s->host->views, open->id, e) < 0)
		return -1;
	if (monitors)
		session_monitor(s);
	scope = open->place ? session_open_part(s, open, e)
			    : session_open_view(s, open, &monitors, e);
	if (!scope && monitors)
		monitor_unwant(s->host->monitor, false);
	if (!scope)
		return -1;
	o = opened_new(scope, s->link);
	o->is_view = !open->place;
	o->session = s;
	o->end = session_bar;
	o->resume = share_resume;
	LIST_INSERT_HEAD(&s->scopes, o, entry);
	if (o->is_view) {
		LIST_INSERT_HEAD(&s->host->views, o, view);
		share_join(s->host->shares, s, o);
		remap_scopes_changed(s->host->remap);
	}
	s->n_scopes++;
	s->host->n_scopes++;
	return 0;
}

/* ---- asking ---- */

static int session_ask(struct session *s, const Evspace__Ask *ask, struct error *e)
{
	struct opened *o = session_scope(s, ask->scope);

	if (!o) {
		errno = EPROTO;
		return errorf(e, "no scope %u is open on this connection", ask->scope);
	}
	/* Its passes are old, and a reconnect would need new ones: make the consumer open the
	 * same scope again. */
	if (o->is_view && opened_is_old(o)) {
		session_end(s);
		return 0;
	}
	return share_ask(o, ask, e);
}

static void session_close(struct session *s, const Evspace__Close *close)
{
	struct opened *o = session_scope(s, close->scope);

	if (o)
		session_close_scope(s, o, close->keep);
}

/* ---- maps ---- */

static int session_map(const struct session *s, struct error *e)
{
	if (session_may(s, ROLE_OBSERVE | ROLE_CONTROL, "ask for the map", e) < 0 ||
	    active_map_is_entry(s->host->active_map, e) < 0)
		return -1;
	active_map_send(s->host->active_map, s->link);
	return 0;
}

static int session_map_apply(struct session *s, const Evspace__MapApply *apply, struct error *e)
{
	int saved;

	if (session_may(s, ROLE_CONTROL, "apply a map", e) == 0 &&
	    rights_all(link_peer(s->link), "apply a map", e) == 0 &&
	    remap_begin(s->host->remap, s->link, apply, e) == 0)
		return 0;
	saved = errno;
	audit_refused(&s->host->failed, link_peer(s->link), audit_map(apply), e->text);
	errno = saved;
	return -1;
}

/* ---- frames ---- */

static int session_status(struct session *s, const Evspace__StatusAsk *ask, struct error *e)
{
	if (ask->place ? session_above(s, ask->place, ask->signer, "ask for the status", e) < 0
		       : session_may(s, ROLE_AGENT | ROLE_OBSERVE | ROLE_CONTROL,
				     "ask for the status", e) < 0)
		return -1;
	return report_take(s->host, &s->underway, s->link, ask, e);
}

static int session_order(struct session *s, const Evspace__SwitchAsk *ask, struct error *e)
{
	if (session_above(s, ask->place, ask->signer, "switch parts of the tree", e) == 0)
		return commanded_take(s->host, &s->underway, &s->lasting, s->link, ask, e);
	commanded_refused(s->host, s->link, ask, e);
	return -1;
}

/* Bound what is looked for in each process: classes, and functions in all files; and arms. */
static int counts_check(const Evspace__SwitchAsk *ask, struct error *e)
{
	const struct {
		const char *what;
		size_t n, most;
	} counts[] = {
		{"classes", ask->n_choices, CHOICES_MAX},
		{"functions", ask->functions ? ask->functions->n_names : 0, FUNCTIONS_ASKED},
		{"arms", ask->trial ? ask->trial->n_arms : 0, TRIAL_ARMS_MAX},
	};

	errno = E2BIG; /* if there are */
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].n > counts[i].most)
			return errorf(e, "%zu %s in one command; at most %zu are possible",
				      counts[i].n, counts[i].what, counts[i].most);
	return 0;
}

/* Bound the patterns, since each is matched with each element's name in one go. */
static int patterns_check(const Evspace__Frame *f, struct error *e)
{
	const Evspace__Open *open = f->kind_case == EVSPACE__FRAME__KIND_OPEN ? f->open : NULL;
	const Evspace__SwitchAsk *ask =
		f->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK ? f->switch_ask : NULL;

	if ((!open || (open->n_select <= PATTERNS_MAX && open->n_within <= PATTERNS_MAX)) &&
	    (!ask || (ask->n_select <= PATTERNS_MAX && ask->n_within <= PATTERNS_MAX &&
		      ask->n_lifetimes <= PATTERNS_MAX && ask->n_details <= PATTERNS_MAX)))
		return ask ? counts_check(ask, e) : 0;
	errno = E2BIG;
	return errorf(e, "more than %u patterns; use `*` or `[0-7]` for several names at once",
		      PATTERNS_MAX);
}

/* Handle a frame whose run is known, as far as possible. */
static void session_take(struct session *s, const Evspace__Frame *f)
{
	uint32_t scope = 0;
	struct error e = {""};
	int rc = 0;

	switch (f->kind_case) {
	case EVSPACE__FRAME__KIND_OPEN:
		scope = f->open->scope;
		rc = session_open(s, f->open, &e);
		break;
	case EVSPACE__FRAME__KIND_ASK:
		scope = f->ask->scope;
		rc = session_ask(s, f->ask, &e);
		break;
	case EVSPACE__FRAME__KIND_CLOSE:
		search_close(&s->underway, f->close->scope);
		commanded_close(&s->underway, f->close->scope);
		session_close(s, f->close);
		break;
	case EVSPACE__FRAME__KIND_SWITCH_ASK:
		scope = f->switch_ask->scope;
		rc = session_order(s, f->switch_ask, &e);
		break;
	case EVSPACE__FRAME__KIND_PING:
		if (f->ping->pass.len)
			rc = session_pass(s,
					  &(struct superior_pass){f->ping->pass, f->ping->signer},
					  "show a pass", &e);
		if (!f->ping->answer)
			link_send_pong(s->link, f->ping);
		break;
	case EVSPACE__FRAME__KIND_MAP_ASK:
		rc = session_map(s, &e);
		break;
	case EVSPACE__FRAME__KIND_MAP_APPLY:
		rc = session_map_apply(s, f->map_apply, &e);
		break;
	case EVSPACE__FRAME__KIND_STATUS_ASK:
		scope = f->status_ask->scope;
		rc = session_status(s, f->status_ask, &e);
		break;
	default:
		errno = EPROTO;
		rc = errorf(&e, "a frame of kind %d is not a request", (int)f->kind_case);
	}
	if (rc < 0)
		link_send_error(s->link, scope, errno, e.text);
}

/* Answer that the run could not be found. */
static void session_unfound(struct session *s, const Evspace__Frame *f, int code,
			    const struct error *e)
{
	if (f->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK)
		commanded_refused(s->host, s->link, f->switch_ask, e);
	link_send_error(s->link, search_scope(f), code, e->text);
}

static void session_found(void *arg, const Evspace__Frame *f, const struct error *e)
{
	struct session *s = arg;

	if (e)
		session_unfound(s, f, ENOTUNIQ, e);
	else
		session_take(s, f);
}

/* Check the run's name before it is used for a search or in the audit. */
static int frame_check(const Evspace__Frame *f, struct error *e)
{
	const char *run = "";

	if (f->kind_case == EVSPACE__FRAME__KIND_OPEN)
		run = f->open->run;
	else if (f->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK)
		run = f->switch_ask->run;
	else if (f->kind_case == EVSPACE__FRAME__KIND_STATUS_ASK)
		run = f->status_ask->run;
	if (!run[0] || folder_is_run(run))
		return 0;
	errno = EINVAL;
	return errorf(e,
		      "'%.64s' cannot be the name of a run: that has less than %u bytes, no slash, "
		      "and no dot in front",
		      run, FOLDER_RUN);
}

static void session_frame(struct link *link, void *arg, const struct frame *frame)
{
	const Evspace__Frame *f = frame->header;
	struct session *s = arg;
	struct error e = {""};

	session_judge(s);
	if (active_map_admit(s->host->active_map, link_peer(link), &e) < 0)
		link_send_error(link, 0, errno, e.text);
	else if (patterns_check(f, &e) < 0 || frame_check(f, &e) < 0)
		link_send_error(link, search_scope(f), errno, e.text);
	else if (!search_needed(s->host, &s->underway, f))
		session_take(s, f);
	else if (session_may(s, ROLE_OBSERVE | ROLE_CONTROL, "observe", &e) < 0 ||
		 search_begin(s->host, &s->underway, link, f, session_found, s, &e) < 0)
		session_unfound(s, f, errno, &e);
}

static void session_closed(struct link *link, void *arg, const struct error *why)
{
	struct session *s = arg;

	(void)link;
	/* report only connections that had to be dropped, not those that were closed */
	if (!strstr(why->text, "closed the connection"))
		session_say(s, why->text);
	session_free(s);
}

static const struct link_events session_events = {
	.frame = session_frame,
	.closed = session_closed,
};

void session_accept(struct link *link, void *host)
{
	struct session *s = memory_new(1, sizeof(*s));

	s->host = host;
	s->link = link;
	LIST_INIT(&s->scopes);
	LIST_INIT(&s->underway);
	LIST_INSERT_HEAD(&s->host->sessions, s, entry);
	s->host->n_sessions++;
	link_events_set(link, &session_events, s);
	session_judge(s);
}

void session_end_all(struct session_host *host)
{
	struct session *s;

	while ((s = LIST_FIRST(&host->sessions)))
		session_end(s);
}
