/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps waves under way at the rate that is wanted, and gets what a leaf could not deliver in time.
 */
#include "consumers/client.h"

#include <stdlib.h>
#include <string.h>

#include "tree/clock.h"

static struct client_answer *slot_of(struct evspace_client *c, uint64_t wave)
{
	return &c->slots[wave % CLIENT_WINDOW_MAX];
}

static void answer_clear(struct client_answer *a)
{
	batch_clear(&a->batch);
	free(a->missing);
	memset(&a->wave, 0, sizeof(a->wave));
	a->missing = NULL;
	a->here = a->asked = false;
}

void client_waves_fini(struct evspace_client *c)
{
	for (size_t i = 0; i < CLIENT_WINDOW_MAX; i++) {
		answer_clear(&c->slots[i]);
		batch_fini(&c->slots[i].batch);
	}
	answer_clear(&c->again);
	batch_fini(&c->again.batch);
	answer_clear(&c->taken);
	batch_fini(&c->taken.batch);
}

/* ---- asking ---- */

/* What each leaf must not forget yet. Returns how many entries of @owing are used. */
static size_t fill_owing(struct evspace_client *c, Evspace__Owing *owing, Evspace__Owing **list)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_leaves; i++) {
		const struct client_leaf *l = &c->leaves[i];

		if (l->n_lacks == 0)
			continue;
		evspace__owing__init(&owing[n]);
		owing[n].leaf = l->index;
		owing[n].wave = l->lacks[0];
		list[n] = &owing[n];
		n++;
	}
	return n;
}

static void send_ask(struct evspace_client *c, uint64_t wave, uint32_t count, uint32_t *only,
		     size_t n_only)
{
	Evspace__Frame frame = EVSPACE__FRAME__INIT;
	Evspace__Ask ask = EVSPACE__ASK__INIT;
	Evspace__Owing *owing = calloc(c->n_leaves + 1, sizeof(*owing));
	Evspace__Owing **list = calloc(c->n_leaves + 1, sizeof(*list));

	if (!owing || !list)
		abort();
	ask.scope = 1;
	ask.wave = wave;
	ask.count = count;
	ask.deadline_ms = c->deadline_ms;
	ask.have = c->next_take - 1;
	ask.n_owing = fill_owing(c, owing, list);
	ask.owing = list;
	ask.only = only;
	ask.n_only = n_only;
	frame.kind_case = EVSPACE__FRAME__KIND_ASK;
	frame.ask = &ask;
	link_send(c->link, &frame, NULL);
	free(owing);
	free(list);
}

/*
 * Leaves that are back may have made waves that never reached us: ask them for the oldest. One ask
 * at a time, to all that lack the wave: two for the same wave would answer for each other.
 */
static void ask_lacking(struct evspace_client *c)
{
	uint32_t *only;
	size_t n = 0;

	if (!c->opened || c->again_wave || c->again.here)
		return;
	for (size_t i = 0; i < c->n_leaves; i++) {
		const struct client_leaf *l = &c->leaves[i];

		if (l->back && l->n_lacks && (!c->again_wave || l->lacks[0] < c->again_wave))
			c->again_wave = l->lacks[0];
	}
	if (!c->again_wave)
		return;
	only = calloc(c->n_leaves, sizeof(*only));
	if (!only)
		abort();
	for (size_t i = 0; i < c->n_leaves; i++) {
		const struct client_leaf *l = &c->leaves[i];

		if (l->back && l->n_lacks && l->lacks[0] == c->again_wave)
			only[n++] = l->index;
	}
	send_ask(c, c->again_wave, 1, only, n);
	free(only);
}

void client_ask_open_again(struct evspace_client *c)
{
	/* Leaves that made these waves give the same ranges again: nothing is lost, nothing comes
	 * twice. */
	for (uint64_t w = c->next_take; w < c->next_ask; w++) {
		if (!slot_of(c, w)->here)
			send_ask(c, w, 1, NULL, 0);
	}
	/* What was asked again is not answered any more; who is back will be seen. */
	c->again_wave = 0;
}

/* How many waves may be asked for now. */
static uint32_t credit(struct evspace_client *c, uint64_t now)
{
	uint64_t under_way = c->next_ask - c->next_take;

	if (under_way >= c->window)
		return 0;
	if (c->rate_hz > 0)
		return now >= c->due_ns;
	/* Refill by halves, so that one frame brings many waves. */
	return c->window == 1 || under_way <= c->window / 2 ? (uint32_t)(c->window - under_way) : 0;
}

static void pace(struct evspace_client *c, uint64_t now)
{
	uint64_t left = c->due_ns > now ? c->due_ns - now : 0;
	struct timeval wait = {(time_t)(left / 1000000000u),
			       (suseconds_t)(left % 1000000000u / 1000u)};

	if (c->rate_hz > 0 && c->next_ask - c->next_take < c->window)
		evtimer_add(c->pace, &wait);
}

void client_pump(struct evspace_client *c)
{
	uint64_t now = clock_mono_ns(), step;
	uint32_t n = c->opened && !c->stopping ? credit(c, now) : 0;

	if (n > 0) {
		for (uint32_t i = 0; i < n; i++) {
			slot_of(c, c->next_ask + i)->asked = true;
			slot_of(c, c->next_ask + i)->asked_ns = now;
		}
		if (c->begun_ns == 0)
			c->begun_ns = now;
		send_ask(c, c->next_ask, n, NULL, 0);
		c->next_ask += n;
		if (c->rate_hz > 0) {
			step = (uint64_t)(1e9 / c->rate_hz);
			/* Behind by more than a wave: go on from now, do not make up for it in a
			 * burst. */
			c->due_ns = c->due_ns + step > now ? c->due_ns + step : now + step;
		}
	}
	if (c->opened)
		pace(c, now);
	ask_lacking(c);
}

/* ---- answers ---- */

static struct client_leaf *leaf_of(struct evspace_client *c, uint32_t index)
{
	for (size_t i = 0; i < c->n_leaves; i++) {
		if (c->leaves[i].index == index)
			return &c->leaves[i];
	}
	return NULL;
}

static void leaf_lacks(struct client_leaf *l, uint64_t wave)
{
	if (l->n_lacks < CLIENT_LACKS && (l->n_lacks == 0 || l->lacks[l->n_lacks - 1] < wave))
		l->lacks[l->n_lacks++] = wave;
}

static void leaf_has(struct client_leaf *l, uint64_t wave)
{
	for (size_t i = 0; i < l->n_lacks; i++) {
		if (l->lacks[i] != wave)
			continue;
		memmove(&l->lacks[i], &l->lacks[i + 1], (l->n_lacks - i - 1) * sizeof(l->lacks[0]));
		l->n_lacks--;
		return;
	}
}

static void learn(struct evspace_client *c, const Evspace__Answer *a)
{
	for (size_t i = 0; i < a->n_names; i++) {
		const Evspace__Name *n = a->names[i];

		if (n->level < LEVEL_COUNT)
			names_learn(c->names, n->id, n->level, n->rank, (uint16_t)n->channel,
				    n->text);
	}
	for (size_t i = 0; i < a->n_comms; i++) {
		const Evspace__Comm *m = a->comms[i];

		names_comm_learn(c->names, m->id, m->parent, m->size, m->world,
				 m->n_members == m->size ? m->members : NULL);
	}
}

static const char *why_text(uint32_t why)
{
	static const char *const texts[] = {
		[MISSING_UNREACHABLE] = "unreachable",
		[MISSING_LATE] = "late",
		[MISSING_REFUSED] = "refused",
	};

	return why < sizeof(texts) / sizeof(texts[0]) && texts[why] ? texts[why] : "missing";
}

static void take_missing(struct evspace_client *c, const Evspace__Answer *a,
			 struct client_answer *to)
{
	size_t n = 0;

	to->missing = calloc(a->n_missing + 1, sizeof(*to->missing));
	if (!to->missing)
		abort();
	for (size_t i = 0; i < a->n_missing; i++) {
		struct client_leaf *l = leaf_of(c, a->missing[i]->leaf);

		if (!l)
			continue;
		l->back = false;
		if (c->reading == READ_STREAM && !a->again)
			leaf_lacks(l, a->wave);
		to->missing[n++] = (struct evspace_missing){
			.leaf = l->name,
			.why = why_text(a->missing[i]->why),
			.since_s = (double)a->missing[i]->since_ms / 1000,
		};
	}
	to->wave.missing = to->missing;
	to->wave.n_missing = n;
}

/* Which leaves are in the answer: they are there, so what they owe can be asked for. */
static void note_parts(struct evspace_client *c, const struct batch *batch)
{
	struct batch_cursor cursor = {0};
	struct run_view run;
	struct client_leaf *l;

	while (batch_next(batch, &cursor, &run)) {
		if (run.run->kind != RUN_PART || (run.run->flags & RUN_FOLD))
			continue;
		l = leaf_of(c, run.run->element);
		if (!l)
			continue;
		leaf_has(l, run.run->first);
		l->back = true;
	}
}

/* Where an answer goes: the slot of its wave, or the one for what was asked again; NULL: not
 * awaited. */
static struct client_answer *place_answer(struct evspace_client *c, const Evspace__Answer *a)
{
	if (a->again)
		return c->again.here ? NULL : &c->again;
	if (a->wave < c->next_take || a->wave >= c->next_ask || slot_of(c, a->wave)->here)
		return NULL;
	return slot_of(c, a->wave);
}

void client_answer(struct evspace_client *c, const struct frame *frame)
{
	const Evspace__Answer *a = frame->header->answer;
	struct client_answer *to = place_answer(c, a);
	uint64_t now = clock_mono_ns();

	learn(c, a);
	if (a->again && a->wave == c->again_wave)
		c->again_wave = 0;
	if (!to)
		return;
	take_missing(c, a, to);
	if (frame->bytes)
		batch_append(&to->batch, frame->buffer, frame->at, frame->bytes);
	to->wave.number = a->wave;
	to->wave.again = a->again;
	to->wave.leaves = (unsigned)c->n_leaves;
	to->wave.answered = a->leaves;
	to->wave.bytes = frame->bytes;
	to->wave.cpu_us = a->cpu_us;
	to->wave.taken_ns = link_hello(c->link)->epoch_ns + (int64_t)a->sent_ns;
	to->wave.latency_s = to->asked ? (double)(now - to->asked_ns) * 1e-9 : 0;
	to->here = true;
	if (c->reading == READ_STREAM)
		note_parts(c, &to->batch);
}

bool client_take(struct evspace_client *c)
{
	struct client_answer *a, taken;

	if (c->again.here)
		a = &c->again;
	else if (c->next_take < c->next_ask && slot_of(c, c->next_take)->here) {
		a = slot_of(c, c->next_take);
		c->next_take++;
	} else
		return false;
	/* The slot is free for the next answer; what was taken before stays until now. */
	answer_clear(&c->taken);
	taken = c->taken;
	c->taken = *a;
	*a = taken;
	client_count_wave(c, &c->taken);
	return true;
}
