/* SPDX-License-Identifier: BSD-3-Clause */
/* Wires one host's part of a gather tree together and turns asks from above into answers. */
#include "tree/scope.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree/clock.h"
#include "tree/gather.h"
#include "tree/hop.h"

/* What an answer announces is at most this large, so that its header has room; the rest goes with
 * the next. */
#define ANNOUNCE_NAMES (4u << 20)
#define ANNOUNCE_COMMS (2u << 20)

_Static_assert(ANNOUNCE_NAMES + ANNOUNCE_COMMS < WIRE_HEADER_MAX, "announcements fit a header");

/* Bytes that the fields of an announcement take beside its text or members, at most. */
#define ANNOUNCE_EACH 40u

struct scope {
	const struct scope_host *host;
	struct link *up;
	uint32_t number;
	Evspace__Open *open; /* a copy, without its place */
	struct plan_place *place;
	struct names *names;
	size_t names_said, comms_said;
	struct stage *source; /* NULL when the place is no leaf */
	struct chain local, joined;
	struct gather *gather;
	struct hop_scope shared;
	struct hop **hops;
	size_t n_hops;
	size_t unsettled;     /* hops of which nothing has been heard yet */
	struct event *settle; /* how long the first `Opened` waits for them; NULL: it was said */
	uint64_t cpu_us;      /* of this process when the last answer left */
	struct batch scratch;
};

/* ---- answers ---- */

/* Room for what an answer announces: messages and the pointers that protobuf-c wants, in one piece.
 */
struct announcement {
	Evspace__Name *names;
	Evspace__Name **name_list;
	Evspace__Comm *comms;
	Evspace__Comm **comm_list;
};

static void *must_calloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

static void announce_names(struct scope *s, Evspace__Answer *a, struct announcement *an)
{
	size_t all = names_count(s->names) - s->names_said, count = 0, bytes = 0;

	for (; count < all && bytes < ANNOUNCE_NAMES; count++)
		bytes += ANNOUNCE_EACH + strlen(names_at(s->names, s->names_said + count)->text);
	if (count == 0)
		return;
	an->names = must_calloc(count, sizeof(*an->names));
	an->name_list = must_calloc(count, sizeof(*an->name_list));
	for (size_t i = 0; i < count; i++) {
		const struct name *n = names_at(s->names, s->names_said + i);
		Evspace__Name *m = &an->names[i];

		evspace__name__init(m);
		m->id = n->id;
		m->level = n->level;
		m->rank = n->rank;
		m->channel = n->channel;
		m->text = n->text;
		an->name_list[i] = m;
	}
	a->n_names = count;
	a->names = an->name_list;
	s->names_said += count;
}

static void announce_comms(struct scope *s, Evspace__Answer *a, struct announcement *an)
{
	size_t all = names_comm_count(s->names) - s->comms_said, count = 0, bytes = 0;

	for (; count < all; count++) {
		const struct name_comm *c = names_comm_at(s->names, s->comms_said + count);

		/* A world rank takes five bytes at most; a first one goes whatever its size. */
		bytes += ANNOUNCE_EACH + (c->members ? 5 * (size_t)c->size : 0) +
			 (c->label ? strlen(c->label) : 0);
		if (count > 0 && bytes > ANNOUNCE_COMMS)
			break;
	}
	if (count == 0)
		return;
	an->comms = must_calloc(count, sizeof(*an->comms));
	an->comm_list = must_calloc(count, sizeof(*an->comm_list));
	for (size_t i = 0; i < count; i++) {
		const struct name_comm *c = names_comm_at(s->names, s->comms_said + i);
		Evspace__Comm *m = &an->comms[i];

		evspace__comm__init(m);
		m->id = c->id;
		m->parent = c->parent;
		m->size = c->size;
		m->world = c->world;
		m->n_members = c->members ? c->size : 0;
		m->members = c->members;
		m->label = c->label ? c->label : m->label;
		an->comm_list[i] = m;
	}
	a->n_comms = count;
	a->comms = an->comm_list;
	s->comms_said += count;
}

static void answer_missing(const struct wave *w, Evspace__Answer *a, Evspace__Missing *messages,
			   Evspace__Missing **list)
{
	uint64_t now = clock_mono_ns();

	for (size_t i = 0; i < w->n_missing; i++) {
		evspace__missing__init(&messages[i]);
		messages[i].leaf = w->missing[i].leaf;
		messages[i].why = w->missing[i].why;
		messages[i].since_ms = (now - w->missing[i].since_ns) / 1000000u;
		list[i] = &messages[i];
	}
	a->n_missing = w->n_missing;
	a->missing = list;
}

/* A batch that no frame can hold is not sent: its leaves are late, and can be asked one by one. */
static void wave_fit(struct wave *w)
{
	struct batch_cursor c = {0};
	struct run_view run;

	if (w->batch.bytes <= WIRE_BODY_MAX)
		return;
	while (batch_next_part(&w->batch, &c, &run)) {
		if (!(run.run->flags & RUN_FOLD))
			wave_miss(w, run.run->element, MISSING_LATE, w->asked_ns);
	}
	batch_clear(&w->batch);
	w->leaves = 0;
}

static void scope_done(void *arg, struct wave *w)
{
	struct scope *s = arg;
	struct ask ask = {.wave = w->number, .have = w->have, .again = w->again};
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Answer answer = EVSPACE__ANSWER__INIT;
	Evspace__Missing *messages = NULL, **list = NULL;
	struct announcement an = {0};
	uint64_t cpu = clock_cpu_us();

	/* Stages check their arguments when they are made; what fails here is memory or a broken
	 * body. */
	if (chain_apply(&s->joined, &ask, &w->batch) < 0)
		batch_clear(&w->batch);
	wave_fit(w);
	if (w->n_missing) {
		messages = must_calloc(w->n_missing, sizeof(*messages));
		list = must_calloc(w->n_missing, sizeof(*list));
		answer_missing(w, &answer, messages, list);
	}
	announce_names(s, &answer, &an);
	announce_comms(s, &answer, &an);
	answer.scope = s->number;
	answer.wave = w->number;
	answer.again = w->again;
	answer.leaves = w->leaves;
	answer.cpu_us = w->cpu_us + (uint32_t)(cpu - s->cpu_us);
	answer.clock_ns = w->asked_ns;
	answer.sent_ns = clock_mono_ns();
	s->cpu_us = cpu;
	frame.kind_case = EVSPACE__FRAME__KIND_ANSWER;
	frame.answer = &answer;
	link_send(s->up, &frame, &w->batch);
	free(messages);
	free(list);
	free(an.names);
	free(an.name_list);
	free(an.comms);
	free(an.comm_list);
}

static void scope_late(void *arg, struct wave *w, size_t input)
{
	struct scope *s = arg;

	hop_miss(s->hops[input], w, true);
}

static const struct gather_events scope_gather_events = {
	.late = scope_late,
	.done = scope_done,
};

/* ---- asks ---- */

static bool ask_names(const Evspace__Ask *ask, uint32_t leaf)
{
	for (size_t i = 0; i < ask->n_only; i++) {
		if (ask->only[i] == leaf)
			return true;
	}
	return ask->n_only == 0;
}

/* What this leaf may forget: all that the consumer has, but for what it still lacks of this leaf.
 */
static uint64_t ask_have(const Evspace__Ask *ask, uint32_t leaf)
{
	uint64_t have = ask->have;

	for (size_t i = 0; i < ask->n_owing; i++) {
		const Evspace__Owing *o = ask->owing[i];

		if (o->leaf == leaf && o->wave > 0 && o->wave - 1 < have)
			have = o->wave - 1;
	}
	return have;
}

static void scope_read(struct scope *s, const Evspace__Ask *ask, struct wave *w)
{
	struct ask local = {
		.wave = w->number,
		.have = ask_have(ask, s->place->index),
		.room = ask->room,
		.again = w->again,
	};

	if (s->source->ops->read(s->source, &local, &s->scratch) == 0 &&
	    chain_apply(&s->local, &local, &s->scratch) == 0) {
		batch_link(&w->batch, &s->scratch);
		w->leaves++;
	} else {
		batch_clear(&s->scratch);
		wave_miss(w, s->place->index, MISSING_REFUSED, w->asked_ns);
	}
}

static void scope_wave(struct scope *s, const Evspace__Ask *ask, uint64_t number, const bool *asked)
{
	struct wave *w =
		gather_begin(s->gather, number, ask->n_only > 0, ask->have, ask->deadline_ms);

	for (size_t i = 0; i < s->n_hops; i++) {
		if (asked[i])
			gather_expect(s->gather, w, i);
		else if (hop_leads_to(s->hops[i], ask->only, ask->n_only))
			hop_miss(s->hops[i], w, false);
	}
	if (s->source && ask_names(ask, s->place->index))
		scope_read(s, ask, w);
	gather_seal(s->gather, w);
}

int scope_ask(struct scope *s, const Evspace__Ask *ask, struct error *e)
{
	bool *asked;

	if (ask->count == 0 || ask->count > GATHER_WINDOW || ask->wave == 0 ||
	    ask->wave > UINT64_MAX - GATHER_WINDOW || ask->deadline_ms == 0) {
		errno = EPROTO;
		return errorf(e,
			      "an ask for %u waves from %lu within %u ms; 1 to %u waves from 1 on "
			      "within at least 1 ms are possible",
			      ask->count, (unsigned long)ask->wave, ask->deadline_ms,
			      GATHER_WINDOW);
	}
	asked = must_calloc(s->n_hops, sizeof(*asked));
	for (size_t i = 0; i < s->n_hops; i++)
		asked[i] = hop_ask(s->hops[i], ask) == 1;
	for (uint32_t k = 0; k < ask->count; k++)
		scope_wave(s, ask, ask->wave + k, asked);
	free(asked);
	return 0;
}

/* ---- opening ---- */

static size_t place_count(const struct plan_place *p)
{
	size_t n = 1;

	for (size_t i = 0; i < p->n_children; i++)
		n += place_count(p->children[i]);
	return n;
}

/* Names of the leaves below @p, into @leaves (and their number into *@n). */
static void place_list(const struct plan_place *p, Evspace__Leaf *leaves, size_t *n)
{
	if (p->leaf) {
		Evspace__Leaf *leaf = &leaves[(*n)++];
		size_t bytes = strlen(p->cluster) + strlen(p->node) + 4;

		evspace__leaf__init(leaf);
		leaf->index = p->index;
		leaf->name = must_calloc(bytes, 1);
		snprintf(leaf->name, bytes, "/%s/%s", p->cluster[0] ? p->cluster : "-", p->node);
	}
	for (size_t i = 0; i < p->n_children; i++)
		place_list(p->children[i], leaves, n);
}

static void scope_say_opened(struct scope *s)
{
	size_t places = place_count(s->place), n = 0;
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Opened opened = EVSPACE__OPENED__INIT;
	Evspace__Leaf *leaves = must_calloc(places, sizeof(*leaves));
	Evspace__Leaf **list = must_calloc(places, sizeof(*list));

	place_list(s->place, leaves, &n);
	for (size_t i = 0; i < n; i++)
		list[i] = &leaves[i];
	opened.scope = s->number;
	opened.run = s->open->run;
	opened.n_leaves = n;
	opened.leaves = list;
	opened.reading = s->open->reading;
	opened.entry = s->place->node;
	opened.places = (uint32_t)places;
	frame.kind_case = EVSPACE__FRAME__KIND_OPENED;
	frame.opened = &opened;
	link_send(s->up, &frame, NULL);
	for (size_t i = 0; i < n; i++)
		free(leaves[i].name);
	free(leaves);
	free(list);
}

static void scope_settle(evutil_socket_t fd, short what, void *arg)
{
	struct scope *s = arg;

	(void)fd;
	(void)what;
	event_free(s->settle);
	s->settle = NULL;
	scope_say_opened(s);
}

static void scope_settled(void *arg)
{
	struct scope *s = arg;

	/* Not said from here: this may be within scope_new(), before the caller knows the scope. */
	if (s->unsettled > 0 && --s->unsettled == 0 && s->settle)
		event_active(s->settle, EV_TIMEOUT, 1);
}

/* ---- building ---- */

static Evspace__Open *open_copy(const Evspace__Open *open)
{
	Evspace__Open bare = *open;
	size_t bytes;
	uint8_t *packed;
	Evspace__Open *copy;

	bare.place = NULL;
	bytes = evspace__open__get_packed_size(&bare);
	packed = must_calloc(bytes, 1);
	evspace__open__pack(&bare, packed);
	copy = evspace__open__unpack(NULL, bytes, packed);
	free(packed);
	if (!copy)
		abort();
	return copy;
}

static int scope_build(struct scope *s, struct error *e)
{
	static const struct timeval settle_within = {1, 0};
	const struct plan_place *p = s->place;

	if (chain_init(&s->local, p->local, p->n_local, s->names, e) < 0 ||
	    chain_init(&s->joined, p->joined, p->n_joined, s->names, e) < 0)
		return -1;
	if (p->leaf) {
		s->source = s->host->source_new(s->host->arg, s->open, p, s->names, e);
		if (!s->source)
			return -1;
	}
	s->gather = gather_new(s->host->base, p->n_children, &scope_gather_events, s);
	s->shared = (struct hop_scope){
		.children = s->host->children,
		.gather = s->gather,
		.names = s->names,
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
	s->hops = must_calloc(p->n_children, sizeof(struct hop *));
	for (size_t i = 0; i < p->n_children; i++)
		s->hops[s->n_hops++] = hop_new(&s->shared, p->children[i], i);
	scope_settled(s);
	return 0;
}

struct scope *scope_new(const struct scope_host *host, struct link *up, const Evspace__Open *open,
			struct error *e)
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
	s = must_calloc(1, sizeof(*s));
	s->host = host;
	s->up = up;
	s->number = open->scope;
	s->open = open_copy(open);
	s->place = place;
	s->names = names_new(place->index);
	s->cpu_us = clock_cpu_us();
	batch_init(&s->scratch);
	if (scope_build(s, e) < 0) {
		scope_free(s, false);
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
	for (size_t i = 0; i < s->n_hops; i++)
		hop_free(s->hops[i], keep);
	free(s->hops);
	gather_free(s->gather);
	if (s->source)
		s->host->source_free(s->host->arg, s->source, keep);
	chain_fini(&s->local);
	chain_fini(&s->joined);
	batch_fini(&s->scratch);
	names_free(s->names);
	wire_plan_place_free(s->place);
	evspace__open__free_unpacked(s->open, NULL);
	free(s);
}

uint32_t scope_number(const struct scope *s)
{
	return s->number;
}
