/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for waves at the wanted rate, and again for what a leaf could not deliver in time. */
#include "consumers/client/client.h"
#include "consumers/client/client-pace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-budget.h"
#include "consumers/client/client-keep.h"
#include "consumers/client/client-replay.h"
#include "consumers/client/client-monitor.h"
#include "pathmap/base/memory.h"
#include "tree/wire/dictionary.h"
#include "tree/data/columns-batch.h"
#include "tree/data/clock.h"
#include "tree/data/tellers.h"

/* A repeated ask that fails gets twice the time, up to this: all later waves wait for it. */
#define AGAIN_MOST_MS 8000u

/* While no host answers, waves asked for as often as possible are at least this far apart. */
#define NOBODY_THERE_NS UINT64_C(100000000)

static struct client_answer *slot_of(struct evspace_client *c, uint64_t wave)
{
	return &c->slots[wave % CLIENT_WINDOW_MAX];
}

static void answer_clear(struct client_answer *a)
{
	batch_clear(&a->batch);
	for (size_t i = 0; i < a->wave.n_missing; i++) {
		if (i == 0 || a->missing[i].reason != a->missing[i - 1].reason)
			free((char *)(uintptr_t)a->missing[i].reason);
	}
	free(a->missing);
	memset(&a->wave, 0, sizeof(a->wave));
	a->missing = NULL;
	a->here = false;
}

static void answer_fini(struct client_answer *a)
{
	answer_clear(a);
	batch_fini(&a->batch);
}

void client_waves_fini(struct evspace_client *c)
{
	struct client_answer *a;

	for (size_t i = 0; i < CLIENT_WINDOW_MAX; i++)
		answer_fini(&c->slots[i]);
	answer_fini(&c->taken);
	while ((a = STAILQ_FIRST(&c->again))) {
		STAILQ_REMOVE_HEAD(&c->again, entry);
		answer_fini(a);
		free(a);
	}
}

/* ---- asking ---- */

/* How many tuples a leaf may bring so that all waves under way fit into what we may hold. */
static uint32_t leaf_room(const struct evspace_client *c)
{
	size_t shares = (size_t)c->window * (delivery_leaves(c->delivery) + 1);
	size_t room = c->flow_control.bytes / sizeof(struct tuple) / shares;

	return room < CLIENT_ROOM_LEAST ? CLIENT_ROOM_LEAST : (uint32_t)room;
}

static void send_ask(struct evspace_client *c, uint64_t wave, uint32_t count, uint32_t *only,
		     size_t n_only)
{
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	size_t room = delivery_owed(c->delivery) + 1;
	Evspace__Owing *owing = memory_new(room, sizeof(*owing));
	Evspace__Owing **list = memory_new(room, sizeof(*list));

	ask.scope = c->number;
	ask.wave = wave;
	ask.count = count;
	ask.deadline_ms = only ? c->again_ms : c->deadline_ms;
	ask.have = c->next_take - 1;
	ask.n_owing = delivery_owing(c->delivery, owing);
	for (size_t i = 0; i < ask.n_owing; i++)
		list[i] = &owing[i];
	ask.owing = list;
	if (c->keep)
		client_keep_ask(c->keep, &ask);
	ask.only = only;
	ask.n_only = n_only;
	ask.room = leaf_room(c);
	ask.every_us = client_every_us(c);
	ask.urgency = c->urgency;
	link_send(c->connection->link, &WIRE_FRAME(ASK, ask, &ask), NULL);
	free(owing);
	free(list);
}

static bool again_under_way(const struct evspace_client *c)
{
	return c->again_next < c->again_end;
}

uint32_t client_room(const struct evspace_client *c)
{
	uint64_t under_way = again_under_way(c) ? c->again_end - c->again_next : 0;

	if (!c->window_map)
		return CLIENT_WINDOW_MAX;
	for (uint64_t w = c->next_take; w < c->next_ask; w++)
		under_way += !c->slots[w % CLIENT_WINDOW_MAX].here;
	return under_way < c->window_map ? c->window_map - (uint32_t)under_way : 0;
}

/* Leaves that are back may have made waves that never reached us: ask them for these. One ask at a
 * time, to all leaves that owe its waves, since answers do not say which ask they belong to. */
static void ask_again(struct evspace_client *c)
{
	const uint32_t room = client_room(c);
	struct delivery_again again;

	if (!c->opened || c->replay || again_under_way(c) || c->reading != READ_STREAM)
		return;
	if (room == 0 ||
	    !delivery_again(c->delivery, room < CLIENT_WINDOW_STREAM ? room : CLIENT_WINDOW_STREAM,
			    &again))
		return;
	/* old ranges may take long on a connection that has become slow */
	if (c->again_ms == 0 || c->again_came)
		c->again_ms = c->deadline_ms;
	else if (c->again_ms < AGAIN_MOST_MS)
		c->again_ms *= 2;
	c->again_came = false;
	c->again_next = again.wave;
	c->again_end = again.wave + again.count;
	send_ask(c, again.wave, again.count, again.leaves, again.n);
}

void client_ask_unanswered(struct evspace_client *c)
{
	/* leaves that made these waves give the same ranges again: nothing is lost, and nothing
	 * comes twice */
	for (uint64_t w = c->next_take; w < c->next_ask; w++) {
		if (slot_of(c, w)->here)
			continue;
		slot_of(c, w)->sure = false;
		send_ask(c, w, 1, NULL, 0);
	}
	/* repeated asks are not answered any more */
	c->again_next = c->again_end = 0;
	ask_again(c);
}

void client_pump(struct evspace_client *c)
{
	uint64_t now = clock_mono_ns();
	bool asks = c->opened && !c->failed && !c->stopping;
	uint32_t n = asks ? client_due(c, now) : 0;

	if (n > 0) {
		bool sure = delivery_owed(c->delivery) == 0;

		for (uint32_t i = 0; i < n; i++) {
			slot_of(c, c->next_ask + i)->asked_ns = now;
			slot_of(c, c->next_ask + i)->sure = sure;
		}
		if (c->begun_ns == 0)
			c->begun_ns = now;
		c->asked_ns = now;
		send_ask(c, c->next_ask, n, NULL, 0);
		c->next_ask += n;
		client_asked(c, n);
	}
	if (asks)
		client_pace(c, now);
}

/* ---- names ---- */

static bool is_stream_element(const struct evspace_client *c, const Evspace__Name *n)
{
	/* names of monitors are the same on all hosts */
	return c->reading == READ_STREAM && n->level == LEVEL_ELEMENT &&
	       n->channel < CHANNEL_PROGRAMS;
}

/* Returns false if there is no memory for it. */
static bool learn_name(struct evspace_client *c, const Evspace__Name *n)
{
	const struct name *known = names_find(c->names, n->id);
	const struct name name = {n->id,   n->rank, (uint16_t)n->level, (uint16_t)n->channel,
				  n->text, n->born};
	bool is_new = !known, other = known && !namesakes_renamed(known->text, n->text);
	enum intervals_known came = INTERVALS_NEW;

	if (n->level >= LEVEL_COUNT)
		return true;
	if (names_hear(c->names, &name) < 0)
		return errno != ENOBUFS;
	if (is_stream_element(c, n))
		came = delivery_name(c->delivery, &name, !is_new && !other);
	if (c->keep)
		client_keep_named(c, came);
	/* A leaf that has lost its cursors numbers its elements anew; one that took over an element
	 * begins where the other one stopped. */
	if (came == INTERVALS_NEW &&
	    (other || (is_new && is_stream_element(c, n) && namesakes_note(c->namesakes, n->text))))
		delivery_forget(c->delivery, n->id);
	return true;
}

static void learn(struct evspace_client *c, const Evspace__Answer *a)
{
	/* any entry counts as the same teller, whose word changes when hosts below contradict each
	 * other */
	struct names_talk talk = {
		.teller = tellers_number(names_tellers(c->names), "entry"),
		.comms = NAMES_COMM_MAX,
		.members = NAMES_MEMBERS_MAX,
		.moves = NAMES_MEMBERS_MAX,
	};

	for (size_t i = 0; i < a->n_names; i++)
		talk.left_out += !learn_name(c, a->names[i]);
	dictionary_take(a->comms, a->n_comms, c->names, &talk);
	if (talk.left_out && !c->told_left_out)
		connection_note(c->connection,
				"%s: some names and communicators that it says are left out from "
				"now on: they have %zu MiB here at most",
				c->connection->address, NAMES_BYTES_MAX >> 20);
	c->told_left_out |= talk.left_out > 0;
}

/* ---- answers ---- */

/* What is held of an answer until it is taken. */
static size_t answer_held(const struct frame *frame)
{
	const Evspace__Answer *a = frame->header->answer;
	size_t bytes = frame->bytes;

	for (size_t i = 0; i < a->n_missing; i++)
		bytes += sizeof(struct evspace_missing) + strlen(a->missing[i]->text) + 1;
	return bytes;
}

/* An answer that there is no room for, without what it brings: its hosts are missing. */
struct client_refused {
	Evspace__Answer answer;
	Evspace__Missing *list, **missing;
	struct error why;
};

static void refused_make(struct client_refused *r, const struct evspace_client *c,
			 const Evspace__Answer *a)
{
	const size_t n = delivery_leaves(c->delivery);

	errorf(&r->why,
	       "%zu MiB of waves that came before wait here to be taken; take waves, have fewer "
	       "under way, or select less",
	       c->held >> 20);
	r->list = memory_new(n + 1, sizeof(*r->list));
	r->missing = memory_new(n + 1, sizeof(*r->missing));
	for (size_t i = 0; i < n; i++) {
		evspace__missing__init(&r->list[i]);
		r->list[i].leaf = delivery_leaf(c->delivery, i)->index;
		r->list[i].why = MISSING_REFUSED;
		r->list[i].text = r->why.text;
		r->missing[i] = &r->list[i];
	}
	r->answer = *a;
	r->answer.leaves = 0;
	r->answer.n_missing = n;
	r->answer.missing = r->missing;
}

static void refused_fini(struct client_refused *r)
{
	free(r->list);
	free(r->missing);
}

/* A copy of @text; the one of the leaf before if that is the same. */
static const char *reason_copy(const struct evspace_missing *before, const char *text)
{
	return before && strcmp(before->reason, text) == 0 ? before->reason : memory_copy(text);
}

static void take_missing(const struct evspace_client *c, const Evspace__Answer *a,
			 struct client_answer *to)
{
	size_t n = 0;

	to->missing = memory_new(a->n_missing + 1, sizeof(*to->missing));
	for (size_t i = 0; i < a->n_missing; i++) {
		const struct delivery_leaf *leaf =
			delivery_leaf_at(c->delivery, a->missing[i]->leaf);

		if (!leaf)
			continue;
		to->missing[n] = (struct evspace_missing){
			.leaf = leaf->name,
			.why = wire_missing(a->missing[i]->why),
			.since_s = (double)a->missing[i]->since_ms / 1000,
			.reason = reason_copy(n > 0 ? &to->missing[n - 1] : NULL,
					      a->missing[i]->text),
		};
		n++;
	}
	to->wave.missing = to->missing;
	to->wave.n_missing = n;
}

/* The place of an answer to a repeated ask; those of one ask come in order. */
static struct client_answer *again_place(struct evspace_client *c, uint64_t wave)
{
	struct client_answer *to, *after = NULL, *a;

	if (wave < c->again_next || wave >= c->again_end)
		return NULL;
	c->again_next = wave + 1;
	to = memory_new(1, sizeof(*to));
	batch_init(&to->batch);
	STAILQ_FOREACH (a, &c->again, entry) {
		if (a->wave.number > wave)
			break;
		after = a;
	}
	if (after)
		STAILQ_INSERT_AFTER(&c->again, after, to, entry);
	else
		STAILQ_INSERT_HEAD(&c->again, to, entry);
	return to;
}

/* The place of an answer: the slot of its wave, or after the other repeated ones; NULL: not
 * expected. */
static struct client_answer *answer_place(struct evspace_client *c, const Evspace__Answer *a)
{
	if (a->again)
		return again_place(c, a->wave);
	if (a->wave < c->next_take || a->wave >= c->next_ask || slot_of(c, a->wave)->here)
		return NULL;
	return slot_of(c, a->wave);
}

/* What it means for what is asked next, and for those who are told. */
static void answer_live(struct evspace_client *c, const struct frame *frame,
			const Evspace__Answer *a, struct client_answer *to,
			const struct delivery_times *times)
{
	/* only now the connection has proved to be of use */
	connection_useful(c->connection);
	c->again_came |= a->again && a->leaves > 0;
	/* without hosts, answers come at once: do not do nothing but ask */
	if (c->rate_hz <= 0 && a->leaves == 0 && !a->again)
		c->due_ns = to->asked_ns + NOBODY_THERE_NS;
	client_monitor_wave(c, frame, times->asked_ns);
	if (!a->again)
		flow_control_wave(&c->flow_control, a->wave, to->sums.read * sizeof(struct tuple),
				  to->wave.latency_s,
				  c->window * ((unsigned)delivery_leaves(c->delivery) + 1),
				  c->deadline_ms * 1e-3, c->next_ask);
	if (c->keep)
		client_keep_answer(c, frame, a == frame->header->answer ? to : NULL,
				   a->again ? 0 : times->came_ns - times->asked_ns);
	ask_again(c);
	client_news(c, EVSPACE_WAVE);
}

/* Judge the answer @a, with what is in to->batch. */
static void answer_take(struct evspace_client *c, const Evspace__Answer *a,
			struct client_answer *to, const struct delivery_times *times)
{
	take_missing(c, a, to);
	delivery_take(c->delivery, a, times, &to->batch, &to->sums);
	to->fill = a->fill;
	to->riders = a->riders;
	to->wave.number = a->wave;
	to->wave.again = a->again;
	to->wave.leaves = (unsigned)delivery_leaves(c->delivery);
	to->wave.answered = a->leaves < to->wave.leaves ? a->leaves : to->wave.leaves;
	to->wave.sure = to->sure && to->wave.n_missing == 0;
	if (!a->again && a->wave == c->remap_wave)
		to->wave.remapped = c->remap_generation;
	to->wave.cpu_us = a->cpu_us;
	to->wave.waited_us = a->waited_us;
	to->wave.taken_ns = (int64_t)((uint64_t)c->epoch_ns + a->sent_ns);
	to->wave.latency_s = a->again ? 0 : (double)(times->came_ns - times->asked_ns) * 1e-9;
	to->here = true;
}

void client_answer(struct evspace_client *c, const struct frame *frame)
{
	const Evspace__Answer *a = frame->header->answer;
	struct client_answer *to = answer_place(c, a);
	struct delivery_times times = {.came_ns = clock_mono_ns()};
	struct client_refused refused = {.list = NULL};

	learn(c, a);
	if (a->share && !c->replay)
		client_budget_share(c, a->share->total, a->share->part);
	if (!to) {
		if (c->keep)
			client_keep_answer(c, frame, NULL, 0);
		return;
	}
	/* an archive has how long it took in place of a time of the agent's */
	times.asked_ns = c->replay ? times.came_ns - a->clock_ns : to->asked_ns;
	to->held = answer_held(frame);
	to->wave.bytes = frame->bytes;
	if (c->held + to->held > CLIENT_HELD_MOST) {
		refused_make(&refused, c, a);
		a = &refused.answer;
		to->held = 0;
	} else if (frame->bytes) {
		batch_append_columns(&to->batch, frame->buffer, frame->at, frame->bytes,
				     frame->plain);
		/* Until it is taken, which may be late. */
		batch_unpin(&to->batch);
	}
	c->held += to->held;
	answer_take(c, a, to, &times);
	if (c->replay)
		client_replay_stages(c, to);
	else
		answer_live(c, frame, a, to, &times);
	refused_fini(&refused);
}

/* Are older waves that a leaf in the answer owes on their way? Then they go first. */
static bool is_early(const struct evspace_client *c, const struct client_answer *a)
{
	return !c->failed && (again_under_way(c) || !c->opened) &&
	       delivery_is_early(c->delivery, &a->batch);
}

/* The next answer in order: a wave, then its repeated answers, then the next wave. */
static struct client_answer *next_answer(struct evspace_client *c)
{
	struct client_answer *a = STAILQ_FIRST(&c->again);

	if (!a || a->wave.number >= c->next_take)
		a = slot_of(c, c->next_take);
	if (!a->wave.again && (c->next_take == c->next_ask || !a->here))
		return NULL;
	return is_early(c, a) ? NULL : a;
}

bool client_has_wave(struct evspace_client *c)
{
	return next_answer(c) != NULL;
}

bool client_owed(const struct evspace_client *c)
{
	return !c->failed && (!c->opened || c->next_ask > c->next_take || again_under_way(c));
}

/* ---- taking ---- */

bool client_take(struct evspace_client *c)
{
	struct client_answer *a = next_answer(c), taken;
	uint32_t cpu_us;

	if (!a)
		return false;
	if (a->wave.again)
		STAILQ_REMOVE_HEAD(&c->again, entry);
	else
		c->next_take++;
	c->held -= a->held;
	/* free the slot for the next answer; the wave before stays until now */
	answer_clear(&c->taken);
	taken = c->taken;
	c->taken = *a;
	*a = taken;
	if (c->taken.wave.again) {
		answer_fini(a);
		free(a);
	}
	/* one at a time, however many wait */
	columns_batch_open(&c->taken.batch);
	cpu_us = client_count_wave(c, &c->taken);
	if (evspace_is_stream(c) && !c->taken.wave.again) {
		c->taken.wave.read = c->taken.sums.read;
		c->taken.wave.lost = c->taken.sums.lost;
	}
	if (!c->replay)
		client_judge(c, &c->taken, cpu_us);
	return true;
}
