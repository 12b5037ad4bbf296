/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks what a run costs, and adds up what all agents say of it. */
#include "consumers/client/price.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"
#include "tree/wire/wire.h"

#define DEADLINE_MS 1000u

/** Bound of times that agents say, in ns: 146 years. */
#define TIME_MOST (UINT64_MAX / 4)

/* All that an answer leads to. */
struct price_answer {
	struct evspace_costs costs;
	struct evspace_channel_cost channels[CHANNEL_PROGRAMS];
	struct evspace_agent_cost *agents;
	struct evspace_link_cost *links;
	struct evspace_view_cost *views;
	struct price_timed timed[CHANNEL_PROGRAMS];
	char **names;
	size_t n_names;
};

/* ---- what agents say ---- */

static double seconds(uint64_t ns)
{
	return ns < TIME_MOST ? (double)ns * 1e-9 : 0;
}

/* Sums that a peer says are finite, and not below 0. */
static double bounded(double x)
{
	return x > 0 && x < 1e30 ? x : 0;
}

static void run_add(struct price_answer *a, const Evspace__Cost *c)
{
	struct evspace_cost_sums *s = &a->costs.sums;

	s->processes += c->processes;
	s->threads += c->threads;
	s->lived_s += seconds(c->lived_ns);
	s->switches += c->switches;
	s->waited_s += seconds(c->waited_ns);
	s->ran_s += seconds(c->ran_ns);
	for (size_t i = 0; i < c->n_timed; i++) {
		const Evspace__Timed *t = c->timed[i];
		struct price_timed *to;

		if (t->channel >= CHANNEL_PROGRAMS)
			continue;
		to = &a->timed[t->channel];
		to->events += t->events;
		to->n += t->n;
		to->cut += t->cut;
		to->ns += bounded(t->ns);
		to->squares += bounded(t->squares);
		to->passed += t->passed;
		to->passed_ns += bounded(t->passed_ns);
	}
}

static void link_add(struct price_answer *a, const char *agent, const Evspace__Carried *c)
{
	struct evspace_costs *costs = &a->costs;

	a->links = memory_room(a->links, costs->n_links, sizeof(*a->links));
	a->links[costs->n_links++] =
		(struct evspace_link_cost){agent, c->peer, c->sent, c->received};
	costs->sums.link_bytes += c->sent + c->received;
	for (size_t i = 0; i < c->n_flows; i++) {
		const Evspace__Flow *f = c->flows[i];

		a->views = memory_room(a->views, costs->n_views, sizeof(*a->views));
		a->views[costs->n_views++] = (struct evspace_view_cost){
			agent, f->consumer, f->view, f->run, f->bytes, f->answers};
	}
}

static void agent_add(struct price_answer *a, const Evspace__Status *s)
{
	struct evspace_costs *costs = &a->costs;
	char *name = memory_format("/%s/%s", s->cluster, s->node);

	a->names = memory_room(a->names, a->n_names, sizeof(*a->names));
	a->names[a->n_names++] = name;
	a->agents = memory_room(a->agents, costs->n_agents, sizeof(*a->agents));
	a->agents[costs->n_agents++] = (struct evspace_agent_cost){
		.name = name,
		.missing = s->why ? wire_missing(s->why) : NULL,
		.cpu_s = seconds(s->cpu_us < TIME_MOST / 1000 ? s->cpu_us * 1000 : 0),
	};
	if (s->why)
		return;
	costs->sums.agents++;
	costs->sums.agents_s += a->agents[costs->n_agents - 1].cpu_s;
	for (size_t i = 0; i < s->n_costs; i++)
		if (strcmp(s->costs[i]->run, costs->run) == 0)
			run_add(a, s->costs[i]);
	for (size_t i = 0; i < s->n_carried; i++)
		link_add(a, name, s->carried[i]);
}

/* ---- which run ---- */

/* The only run that @status and those below it have, of the live ones if @live. "": none. Returns
 * NULL if there are several. */
static const char *only_run(const Evspace__Status *status, bool live)
{
	const char *found = "";

	for (size_t i = 0; i <= status->n_below; i++) {
		const Evspace__Status *s = i ? status->below[i - 1] : status;

		for (size_t k = 0; k < s->n_costs; k++) {
			if (live && s->costs[k]->processes == 0)
				continue;
			if (found[0] && strcmp(found, s->costs[k]->run) != 0)
				return NULL;
			found = s->costs[k]->run;
		}
	}
	return found;
}

static bool run_is_there(const Evspace__Status *status, const char *run)
{
	for (size_t i = 0; i <= status->n_below; i++) {
		const Evspace__Status *s = i ? status->below[i - 1] : status;

		for (size_t k = 0; k < s->n_costs; k++)
			if (strcmp(s->costs[k]->run, run) == 0)
				return true;
	}
	return false;
}

/* The run that is asked about, which is there. Returns NULL with *@none. */
static const char *run_choose(const Evspace__Status *s, const char *want,
			      struct evspace_reply *none)
{
	const char *run = want;

	if (!run[0]) {
		run = only_run(s, true);
		if (run && !run[0])
			run = only_run(s, false);
	}
	none->failure = run ? EVSPACE_NO_RUN : EVSPACE_WRONG;
	if (!run)
		none->why = "there are several runs: say which (--run; evspace runs lists them)";
	else if (!run[0])
		none->why = "there is no run here; evspace run starts one";
	else if (!run_is_there(s, run))
		none->why = "there is no such run; evspace runs lists them";
	else
		return run;
	return NULL;
}

/* ---- the answer ---- */

static void tell_costs(const struct asker *asker, const Evspace__Status *s, const char *run)
{
	struct price_answer a = {.costs = {.run = run}};
	struct evspace_costs *costs = &a.costs;

	costs->sums.taken_ns = (int64_t)clock_mono_ns();
	agent_add(&a, s);
	for (size_t i = 0; i < s->n_below; i++)
		agent_add(&a, s->below[i]);
	price_channels(a.timed, a.channels, &costs->sums);
	for (size_t i = 0; i < CHANNEL_PROGRAMS; i++)
		if (a.channels[i].events || a.channels[i].passed)
			a.channels[costs->n_channels++] = a.channels[i];
	costs->channels = a.channels;
	costs->agents = a.agents;
	costs->links = a.links;
	costs->views = a.views;
	asker->reply(&(struct evspace_reply){.why = "", .costs = costs}, asker->arg);
	for (size_t i = 0; i < a.n_names; i++)
		free(a.names[i]);
	free(a.names);
	free(a.agents);
	free(a.links);
	free(a.views);
}

static void price_answered(const struct asker *asker, Evspace__Frame **frame,
			   enum evspace_failure failure, const char *why)
{
	struct evspace_reply none = {.failure = failure, .why = why};
	const Evspace__Status *s = *frame ? (*frame)->status : NULL;
	const char *run = s ? run_choose(s, asker->run, &none) : NULL;

	if (run)
		tell_costs(asker, s, run);
	else
		asker->reply(&none, asker->arg);
}

struct evspace_question *evspace_cost(struct evspace_connection *c,
				      const struct evspace_among *among, evspace_answered *answered,
				      void *arg)
{
	struct asker asker = {price_answered, answered, arg, ""};
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;

	snprintf(asker.run, sizeof(asker.run), "%s", among->run ? among->run : "");
	ask.all = true;
	ask.costs = true;
	ask.deadline_ms = among->deadline_ms ? among->deadline_ms : DEADLINE_MS;
	return question_new(c, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
			    EVSPACE__FRAME__KIND_STATUS, ask.deadline_ms, &asker, NULL);
}
