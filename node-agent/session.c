/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes frames from consumers and parent agents: opens, asks, closes, and questions for the status.
 */
#include "node-agent/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/report.h"
#include "pathmap/plan.h"

/* A scope that a session has open. */
struct opened {
	LIST_ENTRY(opened) entry;
	struct scope *scope;
};

struct session {
	LIST_ENTRY(session) entry;
	struct session_host *host;
	struct link *link;
	LIST_HEAD(, opened) scopes;
	size_t n_scopes;
};

static void session_close_scope(struct session *s, struct opened *o, bool keep)
{
	LIST_REMOVE(o, entry);
	scope_free(o->scope, keep);
	free(o);
	s->n_scopes--;
	if (keep)
		keeper_note(s->host->keeper);
}

static void session_free(struct session *s)
{
	struct opened *o;

	while ((o = LIST_FIRST(&s->scopes)))
		session_close_scope(s, o, true);
	LIST_REMOVE(s, entry);
	free(s);
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
	const struct peer *p = link_peer(s->link);

	if (p->local || (p->roles & roles))
		return 0;
	errno = EACCES;
	return errorf(
		e,
		"%s may not %s: its certificate does not have the role for that; make one with "
		"deploy/certs",
		p->name, what);
}

/* The run that a consumer means when it names none: the only live one that is known here, else "".
 */
static int open_choose_run(const struct session *s, char *chosen, size_t room, struct error *e)
{
	struct store_run *runs;
	size_t n = store_runs(s->host->sources->store, &runs), live = 0;
	char list[512] = "";

	for (size_t i = 0; i < n; i++) {
		if (runs[i].alive == 0)
			continue;
		live++;
		snprintf(chosen, room, "%s", runs[i].name);
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", runs[i].name);
	}
	free(runs);
	if (live <= 1)
		return 0;
	errno = ENOTUNIQ;
	return errorf(e, "several runs are live; say which with --run:%s", list);
}

static int open_check_run(const struct session *s, const Evspace__Open *open, struct error *e)
{
	struct store_run *runs;
	size_t n = store_runs(s->host->sources->store, &runs);
	char list[512] = "";
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		found = found || strcmp(runs[i].name, open->run) == 0;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", runs[i].name);
	}
	free(runs);
	if (found || n == 0)
		return 0;
	errno = ENOENT;
	return errorf(e, "there is no run '%s'; there are:%s", open->run, list);
}

/* A consumer's open names a view: make the plan, and open its root here. */
static struct scope *session_open_view(struct session *s, const Evspace__Open *open,
				       struct error *e)
{
	const struct source_host *here = s->host->sources;
	const char *entry = pathmap_entry(here->map);
	char run[sizeof(((struct store_run *)0)->name)] = "";
	Evspace__Open whole = *open;
	struct plan *plan = NULL;
	struct scope *scope = NULL;

	if (strcmp(entry, here->node) != 0) {
		errno = EREMOTE;
		errorf(e, "this agent is %s; the entry of its pathmap is %s: connect to %s",
		       here->node, entry, pathmap_address(here->map, entry));
		return NULL;
	}
	if (plan_make(here->map, open->view[0] ? open->view : "events", &plan, e) < 0)
		return NULL;
	/* Other hosts may hold a run of which nothing is here: only one host alone can contradict.
	 */
	if (open->run[0] ? plan->n_places == 1 && open_check_run(s, open, e) < 0
			 : open_choose_run(s, run, sizeof(run), e) < 0)
		goto out;
	if (run[0])
		whole.run = run;
	whole.reading = plan->reading;
	whole.within = open->select;
	whole.n_within = open->n_select;
	whole.select = plan->select;
	whole.n_select = plan->n_select;
	whole.place = wire_place_new(plan->root);
	scope = scope_new(s->host->scopes, s->link, &whole, e);
	wire_place_free(whole.place);
out:
	plan_free(plan);
	return scope;
}

static int session_open(struct session *s, const Evspace__Open *open, struct error *e)
{
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
	if (open->place) {
		if (session_may(s, ROLE_AGENT, "open parts of gather trees", e) < 0)
			return -1;
		scope = scope_new(s->host->scopes, s->link, open, e);
	} else {
		if (session_may(s, ROLE_OBSERVE | ROLE_CONTROL, "observe", e) < 0)
			return -1;
		scope = session_open_view(s, open, e);
	}
	if (!scope)
		return -1;
	o = calloc(1, sizeof(*o));
	if (!o)
		abort();
	o->scope = scope;
	LIST_INSERT_HEAD(&s->scopes, o, entry);
	s->n_scopes++;
	return 0;
}

/* ---- frames ---- */

static int session_ask(struct session *s, const Evspace__Ask *ask, struct error *e)
{
	struct opened *o = session_scope(s, ask->scope);

	if (!o) {
		errno = EPROTO;
		return errorf(e, "no scope %u is open on this connection", ask->scope);
	}
	return scope_ask(o->scope, ask, e);
}

static void session_close(struct session *s, const Evspace__Close *close)
{
	struct opened *o = session_scope(s, close->scope);

	if (o)
		session_close_scope(s, o, close->keep);
}

static void session_frame(struct link *link, void *arg, const struct frame *frame)
{
	struct session *s = arg;
	const Evspace__Frame *f = frame->header;
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
		session_close(s, f->close);
		break;
	case EVSPACE__FRAME__KIND_STATUS_ASK:
		rc = session_may(s, ROLE_OBSERVE | ROLE_CONTROL | ROLE_AGENT, "ask for the status",
				 &e);
		if (rc == 0)
			report_send(s->host, link);
		break;
	default:
		errno = EPROTO;
		rc = errorf(&e, "a frame of kind %d is nothing that an agent is asked",
			    (int)f->kind_case);
	}
	if (rc < 0)
		link_send_error(link, scope, errno, e.text);
}

static void session_closed(struct link *link, void *arg, const struct error *why)
{
	/* That somebody left is no news; that somebody had to be dropped is. */
	if (!strstr(why->text, "closed the connection"))
		fprintf(stderr, "evspace agent: %s: %s\n", link_peer(link)->where, why->text);
	session_free(arg);
}

static const struct link_events session_events = {
	.frame = session_frame,
	.closed = session_closed,
};

void session_accept(struct link *link, void *host)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->host = host;
	s->link = link;
	LIST_INIT(&s->scopes);
	LIST_INSERT_HEAD(&s->host->sessions, s, entry);
	link_events_set(link, &session_events, s);
}

void session_end_all(struct session_host *host)
{
	struct session *s;

	while ((s = LIST_FIRST(&host->sessions))) {
		struct link *link = s->link;

		session_free(s);
		link_close(link);
	}
}

size_t session_count(const struct session_host *host, size_t *scopes)
{
	const struct session *s;
	size_t n = 0;

	*scopes = 0;
	LIST_FOREACH (s, &host->sessions, entry) {
		n++;
		*scopes += s->n_scopes;
	}
	return n;
}
