/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up what collecting costs each run's processes, and what went over each link. */
#include "node-agent/control/costs.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/control/rights.h"
#include "node-agent/control/waits.h"
#include "node-agent/segment/segment-class.h"
#include "node-agent/segment/segment-read.h"
#include "node-agent/segment/segment-timed.h"
#include "pathmap/base/memory.h"
#include "tree/data/process.h"

/** Most threads of all processes that are looked at for one question; of each process at least
 * one. */
#define LOOKS 256u

/* A guarded read of a process. */
struct costs_read {
	const struct segment *segment;
	struct segment_timed_sum timed[CHANNEL_PROGRAMS];
	uint64_t events[CHANNEL_PROGRAMS];
};

static int costs_read(void *arg)
{
	struct costs_read *r = arg;
	uint32_t n = segment_classes(r->segment);

	segment_timed_read(r->segment, r->timed);
	for (uint32_t i = 0; i < n; i++) {
		struct segment_class_sum sum;

		if (segment_class_read(r->segment, i, &sum) < 0 || sum.channel >= CHANNEL_PROGRAMS)
			continue;
		/* a call that is being counted may be in one of them alone */
		if (sum.own.calls > sum.own.skipped)
			r->events[sum.channel] += sum.own.calls - sum.own.skipped;
		if (sum.before.calls > sum.before.skipped)
			r->events[sum.channel] += sum.before.calls - sum.before.skipped;
	}
	return 0;
}

/* ---- runs ---- */

static Evspace__Cost *run_of(struct costs *c, const char *run)
{
	Evspace__Cost *m;

	for (size_t i = 0; i < c->n_runs; i++)
		if (strcmp(c->runs[i]->run, run) == 0)
			return c->runs[i];
	m = memory_new(1, sizeof(*m));
	evspace__cost__init(m);
	m->run = (char *)(uintptr_t)run;
	m->timed = memory_new(CHANNEL_PROGRAMS, sizeof(*m->timed));
	m->n_timed = CHANNEL_PROGRAMS;
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++) {
		m->timed[i] = memory_new(1, sizeof(*m->timed[i]));
		evspace__timed__init(m->timed[i]);
		m->timed[i]->channel = i;
	}
	c->runs = memory_room(c->runs, c->n_runs, sizeof(*c->runs));
	return c->runs[c->n_runs++] = m;
}

static void process_add(const struct session_host *host, const struct store_segment *s,
			unsigned looks, Evspace__Cost *m)
{
	struct costs_read r = {.segment = &s->segment};
	const double ns = source_line(host->sources, s).ns_per_tick;
	const struct waits_sum waits = waits_look(host->waits, s, looks);
	const uint64_t end = s->alive ? clock_mono_ns() : s->died_mono_ns;

	if (segment_guarded(costs_read, &r) < 0)
		return;
	m->processes += s->alive;
	m->lived_ns += end > s->born.mono_ns ? end - s->born.mono_ns : 0;
	m->threads += waits.threads;
	m->switches += waits.switches;
	m->waited_ns += waits.waited_ns;
	m->ran_ns += waits.ran_ns;
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++) {
		Evspace__Timed *to = m->timed[i];

		to->events += r.events[i];
		to->n += r.timed[i].n;
		to->ns += (double)r.timed[i].ticks * ns;
		to->squares += (double)r.timed[i].squares * ns * ns;
		to->cut += r.timed[i].cut;
		to->passed += r.timed[i].passed;
		to->passed_ns += (double)r.timed[i].passed_ticks * ns;
	}
}

static void runs_init(struct costs *c, const struct session_host *host, const struct peer *peer,
		      const struct limits *limits)
{
	const struct store *store = host->sources->store;
	const struct store_segment *s;
	unsigned alive = 0;

	waits_drop(host->waits, store);
	TAILQ_FOREACH (s, &store->segments, link)
		alive += s->alive;
	TAILQ_FOREACH (s, &store->segments, link) {
		if (process_is_monitor(s->rank) || !source_holds(host->sources, NULL, s) ||
		    !rights_within(limits, s->run) || !rights_see(peer, s->run))
			continue;
		process_add(host, s, LOOKS / (alive + 1) + 1, run_of(c, s->run));
	}
}

/* ---- links ---- */

static void flow_add(Evspace__Carried *m, const struct peer *peer, const struct scope *scope)
{
	const Evspace__Open *open = scope_opened_with(scope);
	Evspace__Flow *flow = memory_new(1, sizeof(*flow));

	evspace__flow__init(flow);
	flow->consumer = open->peer[0] ? open->peer : (char *)(uintptr_t)peer->name;
	flow->view = open->view;
	flow->run = open->run;
	scope_sent(scope, &flow->bytes, &flow->answers);
	m->flows = memory_room(m->flows, m->n_flows, sizeof(*m->flows));
	m->flows[m->n_flows++] = flow;
}

static void link_add(struct costs *c, const struct session *s)
{
	Evspace__Carried *m = memory_new(1, sizeof(*m));
	const struct opened *o;

	evspace__carried__init(m);
	m->peer = (char *)(uintptr_t)link_peer(s->link)->name;
	link_bytes(s->link, &m->sent, &m->received);
	LIST_FOREACH (o, &s->scopes, entry)
		flow_add(m, link_peer(s->link), o->scope);
	c->links = memory_room(c->links, c->n_links, sizeof(*c->links));
	c->links[c->n_links++] = m;
}

/* ---- */

void costs_init(struct costs *c, const struct session_host *host, const struct peer *peer,
		const struct limits *limits)
{
	const struct session *s;

	runs_init(c, host, peer, limits);
	/* what others look at is for those who may see all */
	if (limits || peer->limits)
		return;
	LIST_FOREACH (s, &host->sessions, entry)
		link_add(c, s);
}

void costs_fini(struct costs *c)
{
	for (size_t i = 0; i < c->n_runs; i++) {
		for (size_t k = 0; k < c->runs[i]->n_timed; k++)
			free(c->runs[i]->timed[k]);
		free(c->runs[i]->timed);
		free(c->runs[i]);
	}
	for (size_t i = 0; i < c->n_links; i++) {
		for (size_t k = 0; k < c->links[i]->n_flows; k++)
			free(c->links[i]->flows[k]);
		free(c->links[i]->flows);
		free(c->links[i]);
	}
	free(c->runs);
	free(c->links);
	*c = (struct costs){.n_runs = 0};
}
