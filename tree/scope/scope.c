/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects one host's part of a gather tree, and turns asks from above into answers. */
#include "tree/scope/scope.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"
#include "tree/wire/dictionary.h"
#include "tree/scope/ask.h"
#include "tree/scope/failover.h"
#include "tree/wire/wire-place.h"
#include "tree/data/clock.h"
#include "tree/scope/gather.h"
#include "tree/scope/joining.h"
#include "tree/scope/scope-shared.h"
#include "tree/scope/opening.h"
#include "tree/data/span.h"

struct scope {
	const struct scope_host *host;
	struct link *up;
	uint32_t number;
	Evspace__Open *open; /* a copy, without its place */
	struct plan_place *place;
	struct scope_shared *scope_shared; /* has names and source */
	struct intake intake;
	struct dictionary said;
	struct span span;
	struct chain local;
	struct joining joining;
	struct gather *gather;
	struct hop_scope shared;
	struct failover **failovers;
	size_t n_branches;
	size_t unsettled;     /* branches that have not settled yet */
	struct event *settle; /* how long the first `Opened` waits for them; NULL: it was sent */
	scope_call *settled, *idle;
	void *settled_arg, *idle_arg;
	struct event *drain; /* pending until no wave is under way */
	uint64_t cpu_us;     /* of this process when the last answer left */
	double bytes, plain; /* of the last answers: on the wire, and if all columns were open */
	struct batch scratch;
	/* by wave: where its first answer, if complete, ends among all bytes of the link */
	struct answered {
		uint64_t wave, end;
	} answered[GATHER_WINDOW];
	Evspace__Ask *last; /* a copy while not all branches are asked at once, else NULL */
};

/* ---- answers ---- */

static void answer_missing(const struct wave *w, Evspace__Answer *a, Evspace__Missing *messages,
			   Evspace__Missing **list)
{
	uint64_t now = clock_mono_ns();

	for (size_t i = 0; i < w->n_missing; i++) {
		evspace__missing__init(&messages[i]);
		messages[i].leaf = w->missing[i].leaf;
		messages[i].why = w->missing[i].why;
		messages[i].since_ms = (now - w->missing[i].since_ns) / 1000000u;
		if (w->missing[i].text)
			messages[i].text = w->missing[i].text;
		list[i] = &messages[i];
	}
	a->n_missing = w->n_missing;
	a->missing = list;
}

/* The wave is complete; @cpu_us is the time that it took in this process. */
static void scope_trace(struct scope *s, const struct wave *w, uint32_t cpu_us)
{
	uint64_t now = span_since(&s->span);

	if (!now)
		return;
	span_write(&s->span, &(struct trace){
				     .op = OP_EVSPACE_WAVE,
				     .flags = w->n_missing ? TUPLE_FAILED : 0,
				     .since_ns = w->asked_ns,
				     .bytes = w->batch.bytes,
				     .peer = (int32_t)s->n_branches,
				     .wave = w->number,
			     });
	span_write(&s->span, &(struct trace){
				     .op = OP_EVSPACE_CPU,
				     .since_ns = now - cpu_us * UINT64_C(1000),
				     .peer = TUPLE_NO_PEER,
				     .wave = w->number,
			     });
}

static void scope_answered(struct scope *s, const struct wave *w)
{
	uint64_t sent, received;

	if (w->again || w->n_missing)
		return;
	link_bytes(s->up, &sent, &received);
	s->answered[w->number % GATHER_WINDOW] =
		(struct answered){w->number, sent + link_waiting(s->up)};
}

/* Are answers to all waves of an ask already on their way? */
static bool scope_is_answering(const struct scope *s, const Evspace__Ask *ask)
{
	uint64_t sent, received;

	link_bytes(s->up, &sent, &received);
	for (uint64_t wave = ask->wave; wave < ask->wave + ask->count; wave++) {
		const struct answered *a = &s->answered[wave % GATHER_WINDOW];

		if (a->wave != wave || a->end <= sent)
			return false;
	}
	return true;
}

static void scope_joined(void *arg, struct wave *w, bool whole)
{
	struct scope *s = arg;
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	Evspace__Missing *messages = NULL, **list = NULL;
	uint64_t cpu = clock_cpu_us();
	uint32_t below_us = w->cpu_us;

	/* stages have checked their arguments: this fails for lack of memory, or a broken body */
	if (!whole || w->batch.plain > WIRE_BODY_MAX)
		wave_drop(w);
	/* slowly: large ones say more than those that have next to nothing */
	s->bytes += ((double)w->batch.bytes - s->bytes) / 8;
	s->plain += ((double)w->batch.plain - s->plain) / 8;
	if (w->n_missing) {
		messages = memory_new(w->n_missing, sizeof(*messages));
		list = memory_new(w->n_missing, sizeof(*list));
		answer_missing(w, &answer, messages, list);
	}
	wave_cpu(w, (uint32_t)(cpu - s->cpu_us));
	answer.scope = s->number;
	answer.wave = w->number;
	answer.again = w->again;
	answer.leaves = w->leaves;
	answer.cpu_us = w->cpu_us;
	answer.fill = w->fill;
	answer.clock_ns = w->asked_ns;
	answer.sent_ns = clock_mono_ns();
	dictionary_fill(&s->said, s->scope_shared->names, &answer);
	s->cpu_us = cpu;
	scope_trace(s, w, w->cpu_us - below_us);
	link_reply(s->up, s->number, &WIRE_FRAME(ANSWER, answer, &answer), &w->batch,
		   "an answer does not fit into a frame; ask for fewer hosts");
	scope_answered(s, w);
	free(messages);
	free(list);
	dictionary_clear(&s->said);
	if (s->drain && gather_busy(s->gather) <= 1)
		event_active(s->drain, EV_TIMEOUT, 1);
}

static void scope_done(void *arg, struct wave *w)
{
	struct scope *s = arg;

	joining_take(&s->joining, w);
}

static void scope_late(void *arg, struct wave *w, size_t input)
{
	struct scope *s = arg;

	if (input < s->n_branches)
		failover_miss(s->failovers[input], w, true);
	else
		intake_late(&s->intake, w);
}

static void scope_more(void *arg, struct wave *w)
{
	struct scope *s = arg;
	uint64_t now = clock_mono_ns();
	Evspace__Ask ask = *s->last;

	ask.wave = w->number;
	ask.count = 1;
	ask.deadline_ms = w->deadline_ns > now ? (uint32_t)((w->deadline_ns - now) / 1000000u) : 0;
	ask.deadline_ms += ask.deadline_ms == 0;
	while (w->pending < s->place->concurrency && w->next < s->n_branches) {
		size_t input = w->next++;
		unsigned way = failover_ask(s->failovers[input], &ask);

		if (way)
			gather_expect(s->gather, w, input, way);
		else
			failover_miss(s->failovers[input], w, false);
	}
	/* the source is asked with the first */
	w->next += w->next == s->n_branches;
}

static const struct gather_events scope_gather_events = {
	.more = scope_more,
	.late = scope_late,
	.done = scope_done,
};

/* ---- asks ---- */

static void scope_read(void *arg, const struct ask *ask, struct wave *w)
{
	struct scope *s = arg;
	struct stage *source = s->scope_shared->source;
	uint64_t since = span_since(&s->span);
	struct error e = {""};
	int rc = source->ops->read(source, ask, &s->scratch, &e);

	span_write(&s->span, &(struct trace){
				     .op = source->ops->op,
				     .since_ns = since,
				     .bytes = s->scratch.bytes,
				     .peer = TUPLE_NO_PEER,
				     .wave = w->number,
			     });
	names_place_set(s->scope_shared->names, s->place->index);
	if (rc == 0 && chain_apply(&s->local, ask, &s->scratch, 0) == 0 &&
	    gather_bring(s->gather, w, &s->scratch, &e) == 0) {
		w->leaves++;
		wave_fill(w, source->fill);
	} else {
		batch_clear(&s->scratch);
		wave_miss(w, s->place->index, MISSING_REFUSED, w->asked_ns, e.text);
	}
}

/* The map may limit how many children are asked at once: that takes longer, and disturbs less. */
static bool scope_is_throttled(const struct scope *s, const Evspace__Ask *ask)
{
	return s->place->concurrency > 0 && s->place->concurrency < s->n_branches &&
	       ask->n_only == 0;
}

/* @ways: by which way each branch was asked; NULL: not yet. */
static void scope_wave(struct scope *s, const Evspace__Ask *ask, uint64_t number,
		       const unsigned *ways)
{
	struct wave *w =
		gather_begin(s->gather, number, ask->n_only > 0, ask->have, ask->deadline_ms);

	for (size_t i = 0; ways && i < s->n_branches; i++) {
		if (ways[i])
			gather_expect(s->gather, w, i, ways[i]);
		else if (failover_leads_to(s->failovers[i], ask->only, ask->n_only))
			failover_miss(s->failovers[i], w, false);
	}
	if (!ways) {
		w->next = 0;
		scope_more(s, w);
	}
	if (s->place->leaf && ask_names(ask, s->place->index))
		intake_ask(&s->intake, ask, w);
	gather_seal(s->gather, w);
}

int scope_ask(struct scope *s, const Evspace__Ask *asked, struct error *e)
{
	Evspace__Ask limited = *asked, *ask = &limited;
	unsigned *ways = NULL;

	if (ask_check(asked, e) < 0)
		return -1;
	limited.deadline_ms = ask_deadline(asked);
	/* A slow link still carries the answers: repeating them would delay all that follow. */
	if (ask->n_only && scope_is_answering(s, ask))
		return 0;
	limited.room = ask_room(s->place, s->up, ask, s->bytes / s->plain);
	if (scope_is_throttled(s, ask)) {
		if (s->last)
			evspace__ask__free_unpacked(s->last, NULL);
		s->last = (Evspace__Ask *)wire_copy(&ask->base);
	} else {
		ways = memory_new(s->n_branches, sizeof(*ways));
	}
	for (size_t i = 0; ways && i < s->n_branches; i++)
		ways[i] = failover_ask(s->failovers[i], ask);
	for (uint32_t k = 0; k < ask->count; k++)
		scope_wave(s, ask, ask->wave + k, ways);
	free(ways);
	return 0;
}

/* ---- opening ---- */

void scope_unready(const struct scope *s, failover_report *report, void *arg)
{
	for (size_t i = 0; i < s->n_branches; i++)
		failover_unready(s->failovers[i], report, arg);
}

void scope_say_opened(struct scope *s)
{
	struct opening opening = {NULL, 0};

	scope_unready(s, opening_unready, &opening);
	opening_say(&opening, s->up, s->number, s->open, s->place);
}

static void scope_settle(evutil_socket_t fd, short what, void *arg)
{
	struct scope *s = arg;

	(void)fd;
	(void)what;
	event_free(s->settle);
	s->settle = NULL;
	if (s->settled)
		s->settled(s->settled_arg, s);
	else
		scope_say_opened(s);
}

static void scope_settled(void *arg)
{
	struct scope *s = arg;

	/* not from here: this may run within scope_new(), before the caller knows the scope */
	if (s->unsettled > 0 && --s->unsettled == 0 && s->settle)
		event_active(s->settle, EV_TIMEOUT, 1);
}

/* ---- building ---- */

static void scope_join(struct scope *s)
{
	s->joining.turns = s->host->turns;
	s->joining.gather = s->gather;
	s->joining.names = s->scope_shared->names;
	s->joining.place = s->place->index;
	s->joining.joined = scope_joined;
	s->joining.arg = s;
	joining_begin(&s->joining);
}

static int scope_build(struct scope *s, struct error *e)
{
	static const struct timeval settle_within = {1, 0};
	const struct plan_place *p = s->place;
	const bool columns = link_takes_columns(s->up);

	s->scope_shared = scope_shared_join(s->host, s->host->scopes_shared, s->open, p, e);
	if (!s->scope_shared ||
	    chain_init(&s->local, p->local, p->n_local, s->scope_shared->names, e) < 0 ||
	    chain_init(&s->joining.chain, p->joined, p->n_joined, s->scope_shared->names, e) < 0)
		return -1;
	span_init(&s->span, s->host->tracer, s->open->view, s->open->run);
	s->local.span = s->joining.chain.span = &s->span;
	/* As who is above takes it; once, when the last stage here has looked. */
	s->joining.chain.opens = !columns;
	s->joining.chain.packs = columns && (p->n_joined > 0 || p->n_children == 0);
	s->local.packs = columns && !s->joining.chain.packs;
	s->gather = gather_new(s->host->base, p->n_children + 1, &scope_gather_events, s);
	gather_quota_set(s->gather, s->scope_shared->quota);
	scope_join(s);
	s->shared = (struct hop_scope){
		.base = s->host->base,
		.self = s->host->self,
		.self_address = s->host->self_address,
		.children = s->host->children,
		.gather = s->gather,
		.names = s->scope_shared->names,
		.place = p->index,
		.span = &s->span,
		.open = s->open,
		.epoch_ns = s->host->epoch_ns,
		.settled = scope_settled,
		.arg = s,
	};
	s->settle = evtimer_new(s->host->base, scope_settle, s);
	if (!s->settle)
		abort();
	evtimer_add(s->settle, &settle_within);
	s->unsettled = p->n_children + 1;
	s->failovers = memory_new(p->n_children, sizeof(struct failover *));
	for (size_t i = 0; i < p->n_children; i++)
		s->failovers[s->n_branches++] = failover_new(&s->shared, p->children[i], i);
	if (!p->leaf) {
		scope_settled(s);
		return 0;
	}
	s->intake = (struct intake){
		.turns = s->host->turns,
		.scope_shared = s->scope_shared,
		.place = p,
		.generation = s->open->generation,
		.gather = s->gather,
		.input = p->n_children,
		.begun = scope_settled,
		.read = scope_read,
		.arg = s,
	};
	intake_begin(&s->intake);
	return 0;
}

struct scope *scope_new(const struct scope_host *host, struct link *up, const Evspace__Open *open,
			scope_call *settled, void *arg, struct error *e)
{
	struct plan_place *place;
	struct scope *s;

	if (!open->place || open->id.len != 16) {
		errno = EPROTO;
		errorf(e, "an open without a place or with an id of %zu bytes", open->id.len);
		return NULL;
	}
	place = wire_plan_place(open->place, e);
	if (!place)
		return NULL;
	s = memory_new(1, sizeof(*s));
	s->settled = settled;
	s->settled_arg = arg;
	s->host = host;
	s->up = up;
	s->number = open->scope;
	s->open = wire_open_bare(open);
	s->place = place;
	s->cpu_us = clock_cpu_us();
	/* as real tuples were, until these are known; so few say nothing then */
	s->plain = 40;
	s->bytes = link_takes_columns(up) ? 8 : 40;
	batch_init(&s->scratch);
	if (scope_build(s, e) < 0) {
		scope_free(s, true);
		return NULL;
	}
	return s;
}

void scope_free(struct scope *s, bool keep)
{
	if (!s)
		return;
	if (s->settle)
		event_free(s->settle);
	if (s->drain)
		event_free(s->drain);
	intake_fini(&s->intake);
	for (size_t i = 0; i < s->n_branches; i++)
		failover_free(s->failovers[i], keep);
	free(s->failovers);
	gather_free(s->gather);
	span_fini(&s->span);
	chain_fini(&s->local);
	joining_fini(&s->joining);
	batch_fini(&s->scratch);
	if (s->last)
		evspace__ask__free_unpacked(s->last, NULL);
	scope_shared_leave(s->scope_shared, s->open->generation, keep);
	wire_plan_place_free(s->place);
	evspace__open__free_unpacked(s->open, NULL);
	free(s);
}

static void scope_drained(evutil_socket_t fd, short what, void *arg)
{
	struct scope *s = arg;

	(void)fd;
	(void)what;
	if (gather_busy(s->gather) == 0)
		s->idle(s->idle_arg, s);
}

void scope_drain(struct scope *s, scope_call *idle, void *arg)
{
	s->idle = idle;
	s->idle_arg = arg;
	s->drain = evtimer_new(s->host->base, scope_drained, s);
	if (!s->drain)
		abort();
	event_active(s->drain, EV_TIMEOUT, 1);
}

const Evspace__Open *scope_opened_with(const struct scope *s)
{
	return s->open;
}

uint32_t scope_number(const struct scope *s)
{
	return s->number;
}
