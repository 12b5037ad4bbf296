/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes questions of what programs want to know or to be done, and replies of the answers. */
#include "consumers/client/evspace-control.h"

#include <errno.h>
#include <stdlib.h>

#include "consumers/client/client-functions.h"
#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/recording.h"
#include "tree/data/op.h"
#include "tree/scope/ask.h"
#include "tree/scope/classes.h"
#include "tree/wire/wire.h"

#define DEADLINE_MS 1000u
#define APPLY_MS    60000u

/* ---- replies ---- */

static struct evspace_collected *collected_new(Evspace__Class *const *classes, size_t n)
{
	struct evspace_collected *list = memory_new(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++) {
		const Evspace__Class *c = classes[i];

		list[i] = (struct evspace_collected){
			.run = c->run,
			.channel = channel_name(c->channel),
			.comm = c->comm,
			.world = c->world,
			.mode = (int)c->mode,
			.processes = c->processes,
			.calls = c->calls,
			.bytes = c->bytes,
			.time_ns = c->time_ns,
			.skipped = c->skipped,
		};
	}
	return list;
}

static void tell_switched(const struct asker *asker, const Evspace__Switched *s)
{
	struct evspace_host_reply *hosts = memory_new(s->n_hosts + 1, sizeof(*hosts));
	struct evspace_collected *classes = collected_new(s->classes, s->n_classes);
	const struct evspace_switched switched = {s->run, hosts, s->n_hosts, classes, s->n_classes};

	for (size_t i = 0; i < s->n_hosts; i++) {
		const Evspace__Host *h = s->hosts[i];

		hosts[i] = (struct evspace_host_reply){
			.name = h->name,
			.missing = h->why ? wire_missing(h->why) : NULL,
			.text = h->text,
			.processes = h->processes,
			.changed = h->changed,
			.discarded = h->discarded,
			.written = h->written,
			.held = h->held,
			.lost = h->lost,
		};
	}
	asker->reply(&(struct evspace_reply){.why = "", .switched = &switched}, asker->arg);
	free(hosts);
	free(classes);
}

static struct evspace_process *processes_new(Evspace__Process *const *processes, size_t n)
{
	struct evspace_process *list = memory_new(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++) {
		const Evspace__Process *p = processes[i];

		list[i] = (struct evspace_process){
			.name = p->name,
			.run = p->run,
			.program = p->program,
			.host = p->host,
			.notes = p->notes,
			.not_traced = p->modes,
			.pid = p->pid,
			.alive = p->alive,
			.finished = p->finished,
			.threads = p->threads,
			.elements = p->elements,
			.events = p->events,
			.held = p->held,
			.discarded = p->discarded,
			.overflowed = p->overflowed,
			.bytes = p->bytes,
			.age_ms = p->age_ms,
			.dead_ms = p->dead_ms,
			.cost_ps = p->cost_ps,
		};
	}
	return list;
}

static void tell_status(const struct asker *asker, const Evspace__Status *s)
{
	struct evspace_process *processes = processes_new(s->processes, s->n_processes);
	struct evspace_collected *classes = collected_new(s->classes, s->n_classes);
	const struct evspace_agent agent = {
		.node = s->node,
		.cluster = s->cluster,
		.version = s->version,
		.entry = s->entry,
		.pid = s->pid,
		.wire = s->wire,
		.replaced = s->replaced,
		.scopes = s->scopes,
		.links = s->links,
		.uptime_ms = s->uptime_ms,
		.retention_ms = s->retention_ms,
		.cpu_us = s->cpu_us,
		.memory = s->memory,
		.processes = processes,
		.n_processes = s->n_processes,
		.classes = classes,
		.n_classes = s->n_classes,
		.refused = (const char *const *)s->refused,
		.n_refused = s->n_refused,
		.remote = (const char *const *)s->remote,
		.n_remote = s->n_remote,
	};

	asker->reply(&(struct evspace_reply){.why = "", .status = &agent}, asker->arg);
	free(processes);
	free(classes);
}

static struct evspace_texts texts_of(const Evspace__MapTexts *m)
{
	return m ? (struct evspace_texts){m->application, m->cluster, m->mapping}
		 : (struct evspace_texts){NULL, NULL, NULL};
}

static void tell_map(const struct asker *asker, const Evspace__Map *m)
{
	const struct evspace_map_reply map = {
		.generation = m->generation,
		.texts = texts_of(m->texts),
		.before = m->before,
		.previous = texts_of(m->previous),
		.hidden = m->hidden,
	};

	asker->reply(&(struct evspace_reply){.why = "", .map = &map}, asker->arg);
}

static struct evspace_unready *unready_new(Evspace__Unready *const *hosts, size_t n)
{
	struct evspace_unready *list = memory_new(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = (struct evspace_unready){hosts[i]->node, hosts[i]->text,
						   hosts[i]->code == EXDEV};
	return list;
}

static void tell_applied(const struct asker *asker, const Evspace__MapApplied *a)
{
	struct evspace_unready *missing = unready_new(a->missing, a->n_missing);
	struct evspace_unready *unchanged = unready_new(a->unchanged, a->n_unchanged);
	const struct evspace_applied applied = {
		.generation = a->generation,
		.scopes = a->scopes,
		.prepared_ms = a->prepared_ms,
		.switched_ms = a->switched_ms,
		.missing = missing,
		.n_missing = a->n_missing,
		.lifetimes = a->lifetimes,
		.classes = a->classes,
		.unchanged = unchanged,
		.n_unchanged = a->n_unchanged,
		.notes = (const char *const *)a->notes,
		.n_notes = a->n_notes,
	};

	asker->reply(&(struct evspace_reply){.why = "", .applied = &applied}, asker->arg);
	free(missing);
	free(unchanged);
}

static void control_answered(const struct asker *asker, Evspace__Frame **frame,
			     enum evspace_failure failure, const char *why)
{
	const struct evspace_reply reply = {.failure = failure, .why = why};
	const Evspace__Frame *f = *frame;

	if (!f)
		asker->reply(&reply, asker->arg);
	else if (f->kind_case == EVSPACE__FRAME__KIND_SWITCHED)
		tell_switched(asker, f->switched);
	else if (f->kind_case == EVSPACE__FRAME__KIND_STATUS)
		tell_status(asker, f->status);
	else if (f->kind_case == EVSPACE__FRAME__KIND_MAP)
		tell_map(asker, f->map);
	else
		tell_applied(asker, f->map_applied);
}

/* ---- questions ---- */

/* What is wrong with it goes to @e; "": nothing is. */
static Evspace__SwitchAsk order_of(const struct evspace_among *among, struct error *e)
{
	Evspace__SwitchAsk order = EVSPACE__SWITCH_ASK__INIT;

	order.run = (char *)(uintptr_t)(among->run ? among->run : "");
	order.view = (char *)(uintptr_t)(among->view ? among->view : "");
	order.n_select = among->n_select;
	order.select = (char **)(uintptr_t)among->select;
	order.deadline_ms = among->deadline_ms ? among->deadline_ms : DEADLINE_MS;
	e->text[0] = '\0';
	if (recording_select_check(among->select, among->n_select, e) == 0 &&
	    among->deadline_ms > ASK_DEADLINE_MOST_MS)
		errorf(e, "a deadline of %u ms; %u at most", among->deadline_ms,
		       ASK_DEADLINE_MOST_MS);
	return order;
}

/* Ask @order, with these classes of it, unless something is wrong with it. */
static struct evspace_question *order_ask(struct evspace_connection *c, Evspace__SwitchAsk *order,
					  const struct evspace_order *classes, size_t n,
					  const struct asker *asker, struct error *e)
{
	Evspace__Choice *choices = memory_new(n + 1, sizeof(*choices));
	Evspace__Choice **list = memory_new(n + 1, sizeof(*list));
	struct evspace_question *q;

	for (size_t i = 0; i < n && !e->text[0]; i++) {
		list[order->n_choices++] = &choices[i];
		evspace__choice__init(&choices[i]);
		(void)class_choice(classes[i].classes, &choices[i], e);
	}
	order->choices = list;
	q = question_new(c, &WIRE_FRAME(SWITCH_ASK, switch_ask, order),
			 EVSPACE__FRAME__KIND_SWITCHED, order->deadline_ms, asker, e);
	free(choices);
	free(list);
	return q;
}

struct evspace_question *evspace_switch(struct evspace_connection *c,
					const struct evspace_among *among,
					const char *const *classes, size_t n,
					enum evspace_mode mode, evspace_answered *answered,
					void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	struct error e;
	Evspace__SwitchAsk order = order_of(among, &e);
	struct evspace_order *orders = memory_new(n + 1, sizeof(*orders));
	struct evspace_question *q;

	for (size_t i = 0; i < n; i++)
		orders[i].classes = classes[i];
	order.change = mode != EVSPACE_AS_IT_IS;
	order.mode = order.change ? (uint32_t)mode : 0;
	q = order_ask(c, &order, orders, n, &asker, &e);
	free(orders);
	return q;
}

struct evspace_question *evspace_switch_all(struct evspace_connection *c,
					    const struct evspace_among *among,
					    const struct evspace_order *orders, size_t n,
					    const struct evspace_lease *lease,
					    evspace_answered *answered, void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	struct error e;
	Evspace__SwitchAsk order = order_of(among, &e);
	Evspace__Lease its = EVSPACE__LEASE__INIT;
	uint32_t *modes = memory_new(n + 1, sizeof(*modes));
	struct evspace_question *q;

	for (size_t i = 0; i < n; i++)
		modes[i] = (uint32_t)orders[i].mode;
	order.modes = modes;
	order.n_modes = n;
	if (lease) {
		its.id = lease->id;
		its.ms = lease->ms;
		its.keep = lease->keep != 0;
		order.lease = &its;
	}
	q = order_ask(c, &order, orders, n, &asker, &e);
	free(modes);
	return q;
}

struct evspace_question *evspace_try(struct evspace_connection *c,
				     const struct evspace_among *among,
				     const struct evspace_trial *trial, evspace_answered *answered,
				     void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	struct error e;
	Evspace__SwitchAsk order = order_of(among, &e);
	Evspace__Trial its = EVSPACE__TRIAL__INIT;
	uint32_t arms[EVSPACE_ARMS_MAX], channels[EVSPACE_ARMS_MAX];

	its.arms = arms;
	its.channels = channels;
	for (; its.n_arms < trial->n_arms && its.n_arms < EVSPACE_ARMS_MAX; its.n_arms++) {
		const char *class = trial->classes[its.n_arms];
		int channel = class ? channel_find(class) : 0;

		if (channel < 0 || channel >= CHANNEL_MAX)
			errorf(&e, "\"%.40s\" is no class of an experiment", class);
		arms[its.n_arms] = (uint32_t)trial->arms[its.n_arms];
		channels[its.n_channels++] = class && !e.text[0] ? 1u << channel : 0;
	}
	its.length = trial->length;
	its.wash = trial->wash;
	its.seed = trial->seed;
	its.lease_ms = trial->lease_ms;
	order.trial = &its;
	return question_new(c, &WIRE_FRAME(SWITCH_ASK, switch_ask, &order),
			    EVSPACE__FRAME__KIND_SWITCHED, order.deadline_ms, &asker, &e);
}

struct evspace_question *evspace_tell(struct evspace_connection *c,
				      const struct evspace_among *among,
				      const struct evspace_tale *tale, evspace_answered *answered,
				      void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	struct error e;
	Evspace__SwitchAsk order = order_of(among, &e);
	Evspace__Told its = EVSPACE__TOLD__INIT;

	its.budget = tale->budget;
	its.slowdown = tale->slowdown;
	its.low = tale->low;
	its.high = tale->high;
	its.rate_hz = tale->rate_hz;
	its.for_ms = tale->for_ms;
	order.told = &its;
	return question_new(c, &WIRE_FRAME(SWITCH_ASK, switch_ask, &order),
			    EVSPACE__FRAME__KIND_SWITCHED, order.deadline_ms, &asker, &e);
}

struct evspace_question *client_functions_switch(struct evspace_connection *c,
						 const struct evspace_among *among,
						 const char *const *names, size_t n, unsigned ms,
						 bool again, evspace_answered *answered, void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	struct error e;
	Evspace__SwitchAsk order = order_of(among, &e);
	Evspace__Functions its = EVSPACE__FUNCTIONS__INIT;

	its.names = (char **)(uintptr_t)names;
	its.n_names = n;
	its.ms = ms;
	its.again = again;
	order.functions = &its;
	return question_new(c, &WIRE_FRAME(SWITCH_ASK, switch_ask, &order),
			    EVSPACE__FRAME__KIND_SWITCHED, order.deadline_ms, &asker, &e);
}

struct evspace_question *evspace_discard(struct evspace_connection *c,
					 const struct evspace_among *among,
					 evspace_answered *answered, void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	struct error e;
	Evspace__SwitchAsk order = order_of(among, &e);

	order.change = true;
	order.discard = true;
	return question_new(c, &WIRE_FRAME(SWITCH_ASK, switch_ask, &order),
			    EVSPACE__FRAME__KIND_SWITCHED, order.deadline_ms, &asker, &e);
}

struct evspace_question *evspace_status(struct evspace_connection *c, evspace_answered *answered,
					void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;

	return question_new(c, &WIRE_FRAME(STATUS_ASK, status_ask, &ask),
			    EVSPACE__FRAME__KIND_STATUS, DEADLINE_MS, &asker, NULL);
}

struct evspace_question *evspace_map(struct evspace_connection *c, evspace_answered *answered,
				     void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	Evspace__MapAsk ask = EVSPACE__MAP_ASK__INIT;

	return question_new(c, &WIRE_FRAME(MAP_ASK, map_ask, &ask), EVSPACE__FRAME__KIND_MAP,
			    DEADLINE_MS, &asker, NULL);
}

struct evspace_question *evspace_apply(struct evspace_connection *c,
				       const struct evspace_apply *apply,
				       evspace_answered *answered, void *arg)
{
	const struct asker asker = {control_answered, answered, arg, ""};
	const struct evspace_texts *t = apply->texts;
	Evspace__MapApply order = EVSPACE__MAP_APPLY__INIT;
	Evspace__MapTexts texts = EVSPACE__MAP_TEXTS__INIT;

	if (t) {
		texts.application = (char *)(uintptr_t)t->application;
		texts.cluster = (char *)(uintptr_t)t->cluster;
		texts.mapping = (char *)(uintptr_t)t->mapping;
		order.texts = &texts;
	}
	order.expected = apply->expected;
	order.dry_run = apply->dry_run != 0;
	return question_new(c, &WIRE_FRAME(MAP_APPLY, map_apply, &order),
			    EVSPACE__FRAME__KIND_MAP_APPLIED,
			    apply->within_ms ? apply->within_ms : APPLY_MS, &asker, NULL);
}
