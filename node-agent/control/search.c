/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks all agents for the runs that they hold, and chooses one. */
#include "node-agent/control/underway.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/rights.h"
#include "node-agent/control/session.h"
#include "node-agent/store/store-run.h"
#include "pathmap/base/folder-base.h"
#include "pathmap/base/memory.h"
#include "tree/scope/gather-status.h"
#include "tree/scope/quota.h"
#include "tree/data/span.h"
#include "tree/wire/wire-place.h"

/* How long to wait for a host that does not answer. */
#define SEARCH_WITHIN_MS 1000u

struct search {
	struct underway underway; /* first */
	const struct session_host *sessions;
	struct link *link;
	struct gather_status_host host;
	struct gather_status *gather;
	Evspace__Frame *frame;
	struct quota_held held; /* of the peer, for the frame */
	void (*found)(void *arg, const Evspace__Frame *frame, const struct error *e);
	void *arg;
	/* found so far: live runs, each once, and the run that began last */
	char live[16][sizeof(((struct store_run *)0)->name)];
	size_t n_live;
	char silent[256]; /* hosts that did not answer */
	char last[sizeof(((struct store_run *)0)->name)];
	int64_t last_ns;
};

/* The caller has removed it from its list. */
static void search_free(struct search *s)
{
	gather_status_free(s->gather);
	evspace__frame__free_unpacked(s->frame, NULL);
	quota_release(&s->held);
	free(s);
}

static void search_end(struct underway *u)
{
	LIST_REMOVE(u, entry);
	search_free((struct search *)u);
}

static const struct underway_kind kind = {
	.most = 16,
	.what = "questions without the name of a run are under way",
	.end = search_end,
};

void search_close(struct underway_list *list, uint32_t scope)
{
	struct underway *u;

	LIST_FOREACH (u, list, entry) {
		const struct search *s = (const struct search *)u;

		if (u->kind == &kind && s->frame->kind_case == EVSPACE__FRAME__KIND_OPEN &&
		    s->frame->open->scope == scope)
			break;
	}
	if (u)
		search_end(u);
}

/* The field for the run's name in a consumer's frame. */
struct lack {
	char **run;
	uint32_t scope;
};

static bool frame_lack(const Evspace__Frame *f, struct lack *lack)
{
	switch (f->kind_case) {
	case EVSPACE__FRAME__KIND_OPEN:
		*lack = (struct lack){&f->open->run, f->open->scope};
		return !f->open->place;
	case EVSPACE__FRAME__KIND_SWITCH_ASK:
		*lack = (struct lack){&f->switch_ask->run, f->switch_ask->scope};
		return !f->switch_ask->place;
	case EVSPACE__FRAME__KIND_STATUS_ASK:
		*lack = (struct lack){&f->status_ask->run, f->status_ask->scope};
		return f->status_ask->all && f->status_ask->process_tables;
	default:
		return false;
	}
}

uint32_t search_scope(const Evspace__Frame *frame)
{
	struct lack lack = {.scope = 0};

	(void)frame_lack(frame, &lack);
	return lack.scope;
}

/* Is a search for a command's run under way, which one that comes later must not overtake? */
static bool command_waits(const struct underway_list *list)
{
	const struct underway *u;

	LIST_FOREACH (u, list, entry) {
		const struct search *s = (const struct search *)u;

		if (u->kind == &kind && s->frame->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK)
			return true;
	}
	return false;
}

bool search_needed(const struct session_host *host, const struct underway_list *list,
		   const Evspace__Frame *frame)
{
	struct plan_place *all;
	struct lack lack;
	struct error e;
	bool several;

	if (!frame_lack(frame, &lack) || active_map_is_entry(host->active_map, &e) < 0)
		return false;
	if (**lack.run)
		return frame->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK && command_waits(list);
	all = plan_all(host->active_map->map);
	several = all->n_children > 0;
	plan_way_free(all);
	return several;
}

/* ---- runs found ---- */

static void search_add(struct search *s, const char *run, bool alive, int64_t born_ns)
{
	if (span_is_run(run) || !folder_is_run(run) || strlen(run) >= sizeof(s->last))
		return;
	if (born_ns > s->last_ns) {
		s->last_ns = born_ns;
		snprintf(s->last, sizeof(s->last), "%s", run);
	}
	for (size_t i = 0; i < s->n_live; i++)
		alive = alive && strcmp(s->live[i], run) != 0;
	if (alive && s->n_live < sizeof(s->live) / sizeof(s->live[0]))
		snprintf(s->live[s->n_live++], sizeof(s->last), "%s", run);
}

static void search_here(struct search *s)
{
	struct store_run *runs;
	size_t n = store_runs(s->sessions->sources->store, &runs);

	for (size_t i = 0; i < n; i++) {
		if (rights_see(link_peer(s->link), runs[i].name))
			search_add(s, runs[i].name, runs[i].alive > 0, runs[i].born_real_ns);
	}
	free(runs);
}

static void search_there(struct search *s, const Evspace__Status *status)
{
	size_t used = strlen(s->silent);

	/* agents before wire version 4 do not report runs */
	if (status->why || status->wire == 0)
		snprintf(s->silent + used, sizeof(s->silent) - used, "%s%s", used ? ", " : "",
			 status->node);
	for (size_t i = 0; i < status->n_runs; i++) {
		const Evspace__Run *run = status->runs[i];

		if (rights_see_there(link_peer(s->link), status, run->name))
			search_add(s, run->name, run->alive > 0, run->born_ns);
	}
}

static void search_answer(void *arg, struct link *up, Evspace__Frame *frame)
{
	struct search *s = arg;

	(void)up;
	search_here(s);
	for (size_t i = 0; i < frame->status->n_below; i++)
		search_there(s, frame->status->below[i]);
}

/* ---- the run that is meant ---- */

/* Does the frame change the run that is found? */
static bool search_changes(const struct search *s)
{
	return s->frame->kind_case == EVSPACE__FRAME__KIND_SWITCH_ASK &&
	       commanded_changes(s->frame->switch_ask);
}

static int search_choose(const struct search *s, struct error *e)
{
	char list[sizeof(s->live) + 16] = "";
	struct lack lack;

	if (!frame_lack(s->frame, &lack) || **lack.run)
		return 0;
	for (size_t i = 0; i < s->n_live; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", s->live[i]);
	errno = ENOTUNIQ;
	if (s->n_live > 1)
		return errorf(e, "several runs are live; say which with --run:%s", list);
	/* A host without answer may have another live run, or a later one. For readers what was
	 * found is enough, as their waves say which hosts are missing. */
	if (s->silent[0] && (!(s->n_live || s->last[0]) || search_changes(s)))
		return errorf(e,
			      "%s: no answer, so it may have other runs; say which with --run%s%s",
			      s->silent, s->n_live ? ":" : "", list);
	/* a text that was not sent is a shared constant */
	if (*lack.run != (char *)(uintptr_t)protobuf_c_empty_string)
		free(*lack.run);
	*lack.run = memory_copy(s->n_live ? s->live[0] : s->last);
	return 0;
}

static void search_done(void *arg, struct gather_status *gather)
{
	struct search *s = arg;
	struct error e;
	int rc = search_choose(s, &e);

	(void)gather;
	/* found() may end the connection, and all its searches */
	LIST_REMOVE(&s->underway, entry);
	s->found(s->arg, s->frame, rc < 0 ? &e : NULL);
	search_free(s);
}

int search_begin(const struct session_host *host, struct underway_list *list, struct link *link,
		 const Evspace__Frame *frame,
		 void (*found)(void *arg, const Evspace__Frame *frame, const struct error *e),
		 void *arg, struct error *e)
{
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	struct plan_place *all;
	struct search *s;
	size_t bytes;

	if (underway_check(list, &kind, e) < 0)
		return -1;
	s = memory_new(1, sizeof(*s));
	s->underway.kind = &kind;
	s->sessions = host;
	s->link = link;
	s->frame = (Evspace__Frame *)wire_copy_counted(&frame->base, &bytes);
	if (quota_hold(&s->held, link_peer(link)->name, bytes, e) < 0) {
		search_free(s);
		return -1;
	}
	s->found = found;
	s->arg = arg;
	s->host = (struct gather_status_host){
		.base = host->base,
		.children = host->scopes->children,
		.epoch_ns = host->sources->epoch_ns,
		.answer = search_answer,
		.done = search_done,
		.arg = s,
	};
	all = active_map_all(host->active_map);
	ask.place = wire_place_new(all);
	ask.signer = active_map_signer(host->active_map);
	ask.peer = (char *)(uintptr_t)link_peer(link)->name;
	ask.deadline_ms = SEARCH_WITHIN_MS;
	s->gather = gather_status_new(&s->host, link, &ask, e);
	wire_place_free(ask.place);
	plan_way_free(all);
	if (!s->gather) {
		search_free(s);
		return -1;
	}
	LIST_INSERT_HEAD(list, &s->underway, entry);
	return 0;
}
