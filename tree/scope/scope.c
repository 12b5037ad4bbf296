/* SPDX-License-Identifier: BSD-3-Clause */
/* A scope on its link: passes asks on to its trunk, and sends the answers upstream. */
#include "tree/scope/scope.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/wire/dictionary.h"
#include "tree/scope/ask.h"
#include "tree/wire/wire-place.h"
#include "tree/data/clock.h"
#include "tree/scope/opening.h"
#include "tree/scope/stage-fault.h"
#include "tree/scope/trunk.h"
#include "tree/scope/urgent.h"

struct scope {
	const struct scope_host *host;
	struct link *up;
	bool broken; /* it was told that its tree has ended by a fault */
	uint32_t number;
	Evspace__Open *open; /* a copy, without its place */
	struct trunk *trunk;
	struct trunk_asker asker;
	struct urgent_wish wish;
	struct dictionary said;
	struct event *settle; /* how long the first `Opened` waits for all; NULL: it was sent */
	scope_call *settled, *idle;
	void *settled_arg, *idle_arg;
	struct event *drain;	/* pending until no wave is under way */
	uint64_t sent, answers; /* bytes on the wire so far, and answers */
	double spent;		/* of them, as scope_spent() */
	Evspace__Share share;	/* that is to be told */
	bool share_new;
	double bytes, plain; /* of the last answers: on the wire, and if all columns were open */
	/* by wave: where its first answer, if complete, ends among all bytes of the link */
	struct answered {
		uint64_t wave, end;
	} answered[GATHER_WINDOW];
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

/* Bytes that were sent or wait to be, of the whole link. */
static uint64_t bytes_said(const struct scope *s)
{
	uint64_t sent, received;

	link_bytes(s->up, &sent, &received);
	return sent + link_waiting(s->up);
}

static void scope_answered(struct scope *s, const struct wave *w, uint64_t number)
{
	if (w->again || w->n_missing)
		return;
	s->answered[number % GATHER_WINDOW] = (struct answered){number, bytes_said(s)};
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

static void scope_answer(void *arg, const struct wave *w, uint64_t number)
{
	struct scope *s = arg;
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	Evspace__Missing *messages = NULL, **list = NULL;
	uint64_t before = bytes_said(s);
	struct error e;

	/* slowly: large ones say more than those that have next to nothing */
	s->bytes += ((double)w->batch.bytes - s->bytes) / 8;
	s->plain += ((double)w->batch.plain - s->plain) / 8;
	if (w->n_missing) {
		messages = memory_new(w->n_missing, sizeof(*messages));
		list = memory_new(w->n_missing, sizeof(*list));
		answer_missing(w, &answer, messages, list);
	}
	answer.scope = s->number;
	answer.wave = number;
	answer.again = w->again;
	answer.leaves = w->leaves;
	answer.cpu_us = w->cpu_us;
	answer.fill = w->fill;
	answer.waited_us = urgent_waited_us(s->host->urgent);
	if (answer.waited_us < w->waited_us)
		answer.waited_us = w->waited_us;
	answer.urgency = urgent_class(s->host->urgent);
	answer.riders = w->riders;
	answer.share = s->share_new ? &s->share : NULL;
	answer.clock_ns = w->asked_ns;
	answer.sent_ns = clock_mono_ns();
	dictionary_fill(&s->said, trunk_names(s->trunk), &answer);
	link_reply(s->up, s->number, &WIRE_FRAME(ANSWER, answer, &answer), &w->batch,
		   "an answer does not fit into a frame; ask for fewer hosts");
	scope_answered(s, w, number);
	s->sent += bytes_said(s) - before;
	s->answers++;
	s->spent += w->cpu_us * 1e-6 / (w->leaves ? w->leaves : 1) / (w->riders ? w->riders : 1);
	s->share_new = false;
	free(messages);
	free(list);
	dictionary_clear(&s->said);
	if (!s->broken && trunk_is_broken(s->trunk, &e))
		link_send_error(s->up, s->number, ELIBBAD, e.text);
	s->broken = trunk_is_broken(s->trunk, &e);
	if (s->drain)
		event_active(s->drain, EV_TIMEOUT, 1);
}

/* ---- asks ---- */

uint32_t scope_room(const struct scope *s)
{
	const uint32_t most = s->open->window, under_way = scope_awaits(s);

	if (!most)
		return UINT32_MAX;
	return under_way < most ? most - under_way : 0;
}

int scope_ask(struct scope *s, const Evspace__Ask *asked, struct error *e)
{
	Evspace__Ask limited = *asked, *ask = &limited;

	if (ask_check(asked, e) < 0)
		return -1;
	limited.deadline_ms = ask_deadline(asked);
	s->asker.urgency = urgency_asked(asked->urgency);
	urgent_ask(s->host->urgent, &s->wish,
		   &(struct urgent_wish){.urgency = s->asker.urgency,
					 .deadline_ms = limited.deadline_ms,
					 .every_ns = asked->every_us * UINT64_C(1000)});
	/* A slow link still carries the answers: repeating them would delay all that follow. */
	if (ask->n_only && scope_is_answering(s, ask))
		return 0;
	limited.room = ask_room(trunk_sharing(s->trunk), s->up, ask, s->bytes / s->plain);
	return trunk_ask(s->trunk, &s->asker, ask, e);
}

/* ---- opening ---- */

void scope_unready(const struct scope *s, failover_report *report, void *arg)
{
	trunk_unready(s->trunk, report, arg);
}

void scope_say_opened(struct scope *s)
{
	struct opening opening = {NULL, 0};

	scope_unready(s, opening_unready, &opening);
	opening_say(&opening, s->up, s->number, s->open, trunk_place(s->trunk));
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

	/* not from here: the caller may not know the scope yet */
	if (s->settle)
		event_active(s->settle, EV_TIMEOUT, 1);
}

/* ---- building ---- */

/* @id: of the tree, NULL: as @open has it, or as one that is there already has. */
static struct scope *scope_make(const struct scope_host *host, struct link *up,
				const Evspace__Open *open, const ProtobufCBinaryData *id,
				struct error *e)
{
	static const struct timeval settle_within = {1, 0};
	struct plan_place *place;
	struct scope *s;

	if (!open->place || open->id.len != 16) {
		errno = EPROTO;
		errorf(e, "an open without a place or with an id of %zu bytes", open->id.len);
		return NULL;
	}
	place = wire_plan_place(open->place, e);
	if (!place || stage_fault_expect(place, up, e) < 0) {
		wire_plan_place_free(place);
		return NULL;
	}
	s = memory_new(1, sizeof(*s));
	s->host = host;
	s->up = up;
	s->number = open->scope;
	evspace__share__init(&s->share);
	s->open = wire_open_bare(open);
	s->open->sampled = s->open->sampled && link_takes_samples(up);
	/* as real tuples were, until these are known; so few say nothing then */
	s->plain = 40;
	s->bytes = link_takes_columns(up) ? 8 : 40;
	s->asker.settled = scope_settled;
	s->asker.answer = scope_answer;
	s->asker.arg = s;
	s->asker.columns = link_takes_columns(up);
	s->trunk = trunk_join(host, s->open, place, id, &s->asker, e);
	if (!s->trunk) {
		scope_free(s, true);
		return NULL;
	}
	s->settle = evtimer_new(host->base, scope_settle, s);
	if (!s->settle)
		abort();
	evtimer_add(s->settle, &settle_within);
	if (trunk_has_settled(s->trunk))
		scope_settled(s);
	return s;
}

struct scope *scope_new(const struct scope_host *host, struct link *up, const Evspace__Open *open,
			scope_call *settled, void *arg, struct error *e)
{
	struct scope *s = scope_make(host, up, open, NULL, e);

	if (s) {
		s->settled = settled;
		s->settled_arg = arg;
	}
	return s;
}

struct scope *scope_next(const struct scope *was, const Evspace__Open *open, scope_call *settled,
			 void *arg, struct error *e)
{
	struct scope *s = scope_make(was->host, was->up, open, trunk_id(was->trunk), e);

	if (s) {
		s->settled = settled;
		s->settled_arg = arg;
	}
	return s;
}

void scope_free(struct scope *s, bool keep)
{
	int saved = errno;

	if (!s)
		return;
	if (s->settle)
		event_free(s->settle);
	if (s->drain)
		event_free(s->drain);
	urgent_leave(s->host->urgent, &s->wish);
	trunk_leave(s->trunk, &s->asker, keep);
	evspace__open__free_unpacked(s->open, NULL);
	free(s);
	errno = saved;
}

static void scope_drained(evutil_socket_t fd, short what, void *arg)
{
	struct scope *s = arg;

	(void)fd;
	(void)what;
	if (trunk_awaits(s->trunk, &s->asker) == 0)
		s->idle(s->idle_arg, s);
}

void scope_drain(struct scope *s, scope_call *idle, void *arg)
{
	s->idle = idle;
	s->idle_arg = arg;
	s->drain = evtimer_new(s->host->base, scope_drained, s);
	if (!s->drain)
		abort();
	trunk_hurry(s->trunk);
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

void scope_sent(const struct scope *s, uint64_t *bytes, uint64_t *answers)
{
	*bytes = s->sent;
	*answers = s->answers;
}

double scope_spent(const struct scope *s)
{
	return s->spent;
}

unsigned scope_awaits(const struct scope *s)
{
	return trunk_awaits(s->trunk, &s->asker);
}

void scope_share(struct scope *s, double total, double part)
{
	s->share.total = total;
	s->share.part = part;
	s->share_new = true;
}

int64_t scope_since(const struct scope *s)
{
	return trunk_since(s->trunk);
}
