/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an agent's Status of its store, its sessions and the kernel's accounts, and begins
 * status gathers. */
#include "config.h"
#include "node-agent/control/underway.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node-agent/control/costs.h"
#include "node-agent/control/element-report.h"
#include "node-agent/control/hardware.h"
#include "node-agent/control/uncollected.h"
#include "node-agent/remote/fetch.h"
#include "node-agent/control/process-table.h"
#include "node-agent/control/rights.h"
#include "node-agent/control/session.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/store/store-run.h"
#include "node-agent/control/stacks.h"
#include "node-agent/control/survey.h"
#include "node-agent/control/usage.h"
#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan.h"
#include "tree/scope/gather-status.h"
#include "tree/wire/wire-place.h"

/* Has this program's file been replaced or removed (proc(5))? */
static bool is_replaced(void)
{
	static const char gone[] = " (deleted)";
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
	size_t end = sizeof(gone) - 1;

	return n > (ssize_t)end && memcmp(path + n - end, gone, end) == 0;
}

static void report_fill(const struct session_host *host, Evspace__Status *status)
{
	const struct source_host *here = host->sources;

	status->node = (char *)(uintptr_t)here->node;
	status->cluster = (char *)(uintptr_t)pathmap_cluster(host->active_map->map, here->node);
	if (!status->cluster)
		status->cluster = (char *)(uintptr_t) "";
	status->entry = (char *)(uintptr_t)pathmap_entry(host->active_map->map);
	status->version = (char *)(uintptr_t)PACKAGE_VERSION;
	status->uptime_ms = (clock_mono_ns() - host->born_ns) / 1000000u;
	status->pid = (uint32_t)getpid();
	status->scopes = (uint32_t)host->n_scopes;
	status->links = (uint32_t)host->n_sessions;
	status->cpu_us = usage_own_cpu_us();
	status->memory = usage_own_bytes();
	status->retention_ms = host->retention_ns / 1000000u;
	status->wire = WIRE_VERSION;
	status->clock = (char *)(uintptr_t)clock_kind_name();
	status->replaced = is_replaced();
	status->certified = host->tls != NULL;
	status->expires_s = host->tls ? tls_expires_in(host->tls) : 0;
}

struct report_counted {
	const struct segment *segment;
	uint32_t elements;
};

static int elements_count(void *arg)
{
	struct report_counted *counted = arg;

	counted->elements = segment_elements(counted->segment);
	return 0;
}

/* Count processes and elements. */
static void report_count(const struct session_host *host, const struct limits *limits,
			 Evspace__Status *status)
{
	const struct store_segment *s;

	TAILQ_FOREACH (s, &host->sources->store->segments, link) {
		struct report_counted counted = {.segment = &s->segment};

		if (!rights_within(limits, s->run) || !source_holds(host->sources, NULL, s) ||
		    segment_guarded(elements_count, &counted) < 0)
			continue;
		status->collected++;
		status->elements += counted.elements;
	}
}

/* ---- runs ---- */

struct report_runs {
	struct store_run *sums;
	Evspace__Run *messages, **list;
};

static bool holds_here(const void *arg, const struct store_segment *s)
{
	return source_holds(arg, NULL, s);
}

static void report_runs_init(const struct session_host *host, Evspace__Status *status,
			     struct report_runs *r)
{
	size_t n = store_runs_held(host->sources->store, holds_here, host->sources, &r->sums);

	r->messages = memory_new(n + 1, sizeof(*r->messages));
	r->list = memory_new(n + 1, sizeof(*r->list));
	for (size_t i = 0; i < n; i++) {
		const struct store_run *sum = &r->sums[i];
		Evspace__Run *m = &r->messages[i];

		evspace__run__init(m);
		m->name = r->sums[i].name;
		m->program = r->sums[i].program;
		m->processes = sum->processes;
		m->alive = sum->alive;
		m->finished = sum->finished;
		m->world = sum->world_size;
		m->events = sum->events;
		m->overflowed = sum->overflowed;
		m->bytes = sum->bytes;
		m->born_ns = sum->born_real_ns;
		m->idle_ns = sum->idle_ns;
		r->list[i] = m;
	}
	status->n_runs = n;
	status->runs = r->list;
	status->user = (char *)(uintptr_t)limits_own_name();
	status->uid = (uint32_t)geteuid();
}

static void report_runs_fini(struct report_runs *r)
{
	free(r->sums);
	free(r->messages);
	free(r->list);
}

/* Remove the runs that @peer may not see, and free them if they were @received. */
static void runs_hide(const struct peer *peer, Evspace__Status *status, bool received)
{
	size_t kept = 0, costs = 0, elements = 0;

	for (size_t i = 0; i < status->n_runs; i++) {
		if (rights_see_there(peer, status, status->runs[i]->name))
			status->runs[kept++] = status->runs[i];
		else if (received)
			evspace__run__free_unpacked(status->runs[i], NULL);
	}
	status->n_runs = kept;
	for (size_t i = 0; i < status->n_costs; i++) {
		if (rights_see_there(peer, status, status->costs[i]->run))
			status->costs[costs++] = status->costs[i];
		else if (received)
			evspace__cost__free_unpacked(status->costs[i], NULL);
	}
	status->n_costs = costs;
	for (size_t i = 0; i < status->n_elements_of_programs; i++) {
		Evspace__ElementTuples *m = status->elements_of_programs[i];

		if (rights_see_there(peer, status, m->run))
			status->elements_of_programs[elements++] = m;
		else if (received)
			evspace__element_tuples__free_unpacked(m, NULL);
	}
	status->n_elements_of_programs = elements;
}

static void report_say(struct link *link, const Evspace__Frame *frame)
{
	link_reply(link, frame->status->scope, frame, NULL,
		   "its status does not fit into a frame; remove ended runs "
		   "(evspace purge)");
}

/* What of a host is asked for besides. */
struct report_wish {
	bool process_tables, used, costs;
	uint32_t counters;
	char run[sizeof(((struct store_run *)0)->name)]; /* whose process tables */
	Evspace__ElementAsk *element;			 /* NULL: none */
	struct stacks *stacks;				 /* NULL: none */
};

/*
 * Fill in the agent's own part of the Status in @frame, with what is wished, and send it. Counts
 * only what is within @limits (NULL: none).
 */
static void report_answer(const struct session_host *host, struct link *link, Evspace__Frame *frame,
			  const struct limits *limits, const struct report_wish *wish)
{
	const struct peer *peer = link_peer(link);
	struct process_tables process_tables = {.n = 0};
	Evspace__Status *status = frame->status;
	struct element_reports elements = {.n = 0};
	struct costs costs = {.n_runs = 0};
	struct report_runs runs;

	report_fill(host, status);
	report_count(host, limits, status);
	report_runs_init(host, status, &runs);
	runs_hide(peer, status, false);
	for (size_t i = 0; i < status->n_below; i++)
		runs_hide(peer, status->below[i], true);
	if (wish->process_tables)
		process_tables_init(&process_tables, host->sources->store, host->sources, wish->run,
				    wish->used);
	if (wish->process_tables && wish->counters)
		hardware_fill(host->hardware, &process_tables, wish->counters);
	if (wish->stacks)
		stacks_give(wish->stacks, process_tables.processes, process_tables.n);
	status->n_processes = process_tables.n;
	status->processes = process_tables.processes;
	status->n_comms = process_tables.n_comms;
	status->comms = process_tables.comms;
	status->unread = process_tables.unread;
	if (wish->element)
		element_reports_init(&elements, host->sources->store, limits, wish->element);
	status->n_elements_of_programs = elements.n;
	status->elements_of_programs = elements.list;
	if (wish->costs)
		costs_init(&costs, host, peer, limits);
	status->n_costs = costs.n_runs;
	status->costs = costs.runs;
	status->n_carried = costs.n_links;
	status->carried = costs.links;
	gather_status_fit(frame);
	report_say(link, frame);
	process_tables_fini(&process_tables);
	element_reports_fini(&elements);
	costs_fini(&costs);
	report_runs_fini(&runs);
}

/* ---- with processes ---- */

/* The part of this agent's Status that the peer may see. */
struct report {
	Evspace__Status status;
	struct uncollected absent;
	struct remote_report remote;
	char **unwanted; /* lines about ranks that are not to be collected */
	size_t n_unwanted;
};

static void report_processes(const struct peer *peer, const Evspace__Status *all,
			     Evspace__Status *status)
{
	status->processes = memory_new(all->n_processes + 1, sizeof(*status->processes));
	for (size_t i = 0; i < all->n_processes; i++) {
		if (rights_see(peer, all->processes[i]->run))
			status->processes[status->n_processes++] = all->processes[i];
	}
	status->classes = memory_new(all->n_classes + 1, sizeof(*status->classes));
	for (size_t i = 0; i < all->n_classes; i++) {
		if (rights_see(peer, all->classes[i]->run))
			status->classes[status->n_classes++] = all->classes[i];
	}
}

/* One line of all such ranks from @first on that follow each other; *@last is its last one. */
static char *unwanted_text(const struct store_refusal *first, const struct store_refusal **last)
{
	const struct store_refusal *r = first;
	struct interval_set ranks = {0};
	char *list, *text;

	for (; r && r->unwanted && strcmp(r->run, first->run) == 0; r = TAILQ_NEXT(r, link)) {
		if (r->rank >= 0)
			interval_set_add(&ranks, (uint64_t)r->rank, (uint64_t)r->rank + 1);
		*last = r;
	}
	list = interval_set_text(&ranks);
	text = memory_format(
		"run %s: ranks %s are not collected: they are not among those that are "
		"to be (`collect` of the application map, --ranks)",
		first->run, list);
	interval_set_fini(&ranks);
	free(list);
	return text;
}

static void report_refused(const struct session_host *host, struct report *r)
{
	const struct store *store = host->sources->store;
	const struct store_refusal *refusal;
	size_t n = 0;

	uncollected_init(&r->absent, store);
	TAILQ_FOREACH (refusal, &store->refusals, link)
		n++;
	r->status.refused = memory_new(n + r->absent.n + 1, sizeof(char *));
	r->unwanted = memory_new(n + 1, sizeof(char *));
	TAILQ_FOREACH (refusal, &store->refusals, link) {
		char *text = (char *)(uintptr_t)refusal->text;

		if (refusal->unwanted)
			text = r->unwanted[r->n_unwanted++] = unwanted_text(refusal, &refusal);
		r->status.refused[r->status.n_refused++] = text;
	}
	for (size_t i = 0; i < r->absent.n; i++)
		r->status.refused[r->status.n_refused++] = r->absent.texts[i];
}

static void report_fini(struct report *r)
{
	uncollected_fini(&r->absent);
	remote_report_fini(&r->remote);
	free(r->status.processes);
	free(r->status.classes);
	free(r->status.refused);
	for (size_t i = 0; i < r->n_unwanted; i++)
		free(r->unwanted[i]);
	free(r->unwanted);
}

/* Send the agent's Status, with its processes, as the answer to question @number. */
static void report_send(const struct session_host *host, struct link *link, uint32_t number)
{
	struct report r = {.status = EVSPACE__STATUS__INIT};
	const struct peer *peer = link_peer(link);

	r.status.scope = number;
	report_fill(host, &r.status);
	report_count(host, peer->limits, &r.status);
	report_processes(peer, survey_take(host->survey), &r.status);
	/* these lines are about all runs */
	if (!peer->limits) {
		report_refused(host, &r);
		remote_report_init(&r.remote, host->sources);
	}
	r.status.n_remote = r.remote.n;
	r.status.remote = r.remote.texts;
	report_say(link, &WIRE_FRAME(STATUS, status, &r.status));
	report_fini(&r);
}

/* ---- of agents below ---- */

struct report_gather {
	struct underway underway; /* first */
	const struct session_host *sessions;
	struct gather_status_host host;
	struct gather_status *gather;
	struct limits *limits; /* of the peer that asked; NULL: none */
	struct report_wish wish;
};

static void report_gather_free(struct report_gather *r)
{
	LIST_REMOVE(&r->underway, entry);
	gather_status_free(r->gather);
	stacks_free(r->wish.stacks);
	limits_free(r->limits);
	if (r->wish.element)
		evspace__element_ask__free_unpacked(r->wish.element, NULL);
	free(r);
}

static void report_gather_end(struct underway *u)
{
	report_gather_free((struct report_gather *)u);
}

static const struct underway_kind kind = {
	.most = 16,
	.what = "questions for the status are under way",
	.end = report_gather_end,
};

static void report_gather_answer(void *arg, struct link *up, Evspace__Frame *frame)
{
	const struct report_gather *r = arg;

	report_answer(r->sessions, up, frame, r->limits, &r->wish);
}

static void report_gather_done(void *arg, struct gather_status *gather)
{
	(void)gather;
	report_gather_free(arg);
}

static void report_gather_ready(void *arg)
{
	gather_status_ready(((struct report_gather *)arg)->gather);
}

static bool report_gather_here(void *arg, const Evspace__StatusAsk *ask, uint32_t deadline_ms)
{
	struct report_gather *r = arg;

	if (!r->wish.process_tables || ask->stacks == 0)
		return false;
	r->wish.stacks = stacks_new(r->sessions->base, r->sessions->sources, r->wish.run,
				    ask->stacks, deadline_ms, report_gather_ready, r);
	return stacks_wait(r->wish.stacks);
}

static void report_gather_limit(struct report_gather *r, const char *what, char *const *names,
				size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *text = memory_format("%s=%s", what, names[i]);

		if (limits_add(&r->limits, text) < 0)
			abort();
		free(text);
	}
}

static int report_gather_begin(const struct session_host *host, struct underway_list *list,
			       struct link *link, const Evspace__StatusAsk *ask, struct error *e)
{
	struct report_gather *r = memory_new(1, sizeof(*r));

	r->underway.kind = &kind;
	r->sessions = host;
	r->host = (struct gather_status_host){
		.base = host->base,
		.children = host->scopes->children,
		.epoch_ns = host->sources->epoch_ns,
		.begin = report_gather_here,
		.answer = report_gather_answer,
		.done = report_gather_done,
		.arg = r,
	};
	LIST_INSERT_HEAD(list, &r->underway, entry);
	report_gather_limit(r, "user", ask->users, ask->n_users);
	report_gather_limit(r, "run", ask->runs, ask->n_runs);
	r->wish.costs = ask->costs;
	r->wish.used = ask->used;
	r->wish.counters = ask->counters;
	if (ask->element)
		r->wish.element = (Evspace__ElementAsk *)wire_copy(&ask->element->base);
	r->wish.process_tables = ask->process_tables && limits_own_user(ask->users, ask->n_users);
	if (!r->wish.process_tables || rights_run(link_peer(link), host->sources->store, ask->run,
						  false, r->wish.run, sizeof(r->wish.run), e) == 0)
		r->gather = gather_status_new(&r->host, link, ask, e);
	if (r->gather)
		return 0;
	report_gather_free(r);
	return -1;
}

int report_take(const struct session_host *host, struct underway_list *list, struct link *link,
		const Evspace__StatusAsk *ask, struct error *e)
{
	const struct limits *limits = link_peer(link)->limits;
	char run[sizeof(((struct store_run *)0)->name)] = "";
	Evspace__StatusAsk whole = *ask;
	struct plan_place *all;
	int rc;

	if (!ask->place && !ask->all) {
		report_send(host, link, ask->scope);
		return 0;
	}
	/* check the limit before any work */
	if (underway_check(list, &kind, e) < 0)
		return -1;
	if (ask->place)
		return report_gather_begin(host, list, link, ask, e);
	if (active_map_is_entry(host->active_map, e) < 0)
		return -1;
	if (ask->process_tables && rights_run(link_peer(link), host->sources->store, ask->run,
					      false, run, sizeof(run), e) < 0)
		return -1;
	whole.run = run;
	whole.peer = (char *)(uintptr_t)link_peer(link)->name;
	whole.users = limits ? limits->users : NULL;
	whole.n_users = limits ? limits->n_users : 0;
	whole.runs = limits ? limits->runs : NULL;
	whole.n_runs = limits ? limits->n_runs : 0;
	all = active_map_all(host->active_map);
	if (ask->element && ask->element->node[0])
		element_way(all, ask->element->node);
	whole.place = wire_place_new(all);
	whole.signer = active_map_signer(host->active_map);
	rc = report_gather_begin(host, list, link, &whole, e);
	wire_place_free(whole.place);
	plan_way_free(all);
	return rc;
}
