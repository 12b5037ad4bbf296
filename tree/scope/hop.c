/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends asks to a child agent, puts its answers into waves, and relates its clock to ours. */
#include "tree/scope/hop-private.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pathmap/base/memory.h"
#include "tree/scope/below.h"
#include "tree/wire/wire-place.h"
#include "tree/data/clock.h"
#include "tree/data/turn.h"
#include "tree/data/urgency.h"
#include "tree/scope/stage-fault.h"
#include "tree/scope/seats.h"
#include "tree/data/span.h"

/* A child that has refused is asked to open the scope again after this, then less and less often: a
 * part that is in the way may end. */
#define REOPEN_FIRST_MS 100u
#define REOPEN_LAST_MS	5000u

static void hop_settle(struct hop *hop)
{
	if (hop->settled)
		return;
	hop->settled = true;
	hop->events->settled(hop->arg, hop);
}

size_t hop_unready(const struct hop *hop, const struct unready **list)
{
	*list = hop->unready.items;
	return hop->unready.n;
}

/* Expect nothing from the child for a while. @say logs why, unless it was shut before. */
static void hop_shut(struct hop *hop, uint32_t code, const struct error *why,
		     void (*say)(struct child_user *user, const char *text))
{
	struct timeval wait = {hop->reopen_ms / 1000, hop->reopen_ms % 1000 * 1000};

	/* asks sent after the open are refused for the same reason, in other words */
	if (evtimer_pending(hop->reopen, NULL))
		return;
	evtimer_add(hop->reopen, &wait);
	hop->reopen_ms = hop->reopen_ms * 2 < REOPEN_LAST_MS ? hop->reopen_ms * 2 : REOPEN_LAST_MS;
	if (strcmp(hop->told.text, why->text) != 0)
		say(&hop->user, why->text);
	hop->refused = hop->told = *why;
	if (hop->refused_ns == 0)
		hop->refused_ns = clock_mono_ns();
	hop->opened = false;
	gather_lost(hop->scope->gather, hop->input, hop->way);
	unready_clear(&hop->unready);
	unready_add(&hop->unready, hop->place->node, hop->refused.text, code);
	hop_settle(hop);
	hop->events->changed(hop->arg, hop);
}

/* ---- down ---- */

static void hop_open(struct hop *hop)
{
	Evspace__Open open = *hop->scope->open;
	struct error e;

	open.scope = hop->user.scope;
	open.place = wire_place_new(hop->place);
	/* below the entry stages alone count */
	open.define = (ProtobufCBinaryData){0, NULL};
	open.tree = open.concurrency = (char *)(uintptr_t) "";
	open.folds = hop->scope->folds;
	link_send_pass(child_link(&hop->user), open.place->pass, open.signer);
	if (stage_fault_samples(&open, child_link(&hop->user), &e) < 0)
		hop_shut(hop, errno, &e, child_say);
	else if (link_send(child_link(&hop->user), &WIRE_FRAME(OPEN, open, &open), NULL) == 0)
		child_expect(&hop->user);
	/* else the link has failed, which is reported next */
	else if (errno == EMSGSIZE) {
		errorf(&e, "its part of the tree does not fit into a frame; map fewer hosts below");
		hop_shut(hop, EMSGSIZE, &e, child_say);
	}
	wire_place_free(open.place);
}

static void hop_close(struct hop *hop, bool keep)
{
	Evspace__Close close = EVSPACE__CLOSE__INIT;

	close.scope = hop->user.scope;
	close.keep = keep;
	link_send(child_link(&hop->user), &WIRE_FRAME(CLOSE, close, &close), NULL);
}

static void hop_up(struct child_user *user)
{
	struct hop *hop = (struct hop *)user;

	hop->refused.text[0] = hop->told.text[0] = '\0';
	hop->refused_ns = 0;
	hop->reopen_ms = REOPEN_FIRST_MS;
	hop->owes = 0;
	below_spoken_fini(&hop->spoken);
	hop->up_ns = clock_mono_ns();
	hop_open(hop);
	hop->events->changed(hop->arg, hop);
}

/* The refusal may have been of an ask: then the scope is still open there. */
static void hop_reopen(evutil_socket_t fd, short what, void *arg)
{
	struct hop *hop = arg;

	(void)fd;
	(void)what;
	hop_close(hop, true);
	hop_open(hop);
}

static void hop_down(struct child_user *user)
{
	struct hop *hop = (struct hop *)user;

	hop->opened = false;
	evtimer_del(hop->reopen);
	gather_lost(hop->scope->gather, hop->input, hop->way);
	unready_clear(&hop->unready);
	unready_add(&hop->unready, hop->place->node, child_complaint(user), 0);
	hop_settle(hop);
	hop->events->changed(hop->arg, hop);
}

/* It may be stopped or cut off: what it holds comes when it speaks again, or is asked for again. */
static void hop_silent(struct child_user *user)
{
	struct hop *hop = (struct hop *)user;

	if (!hop->opened) {
		unready_clear(&hop->unready);
		unready_add(&hop->unready, hop->place->node, "it does not answer", 0);
	}
	/* Its stand-in is asked for what it owes. A leaf has none, and has until its deadline. */
	if (hop->place->n_children > 0)
		gather_lost(hop->scope->gather, hop->input, hop->way);
	hop_settle(hop);
	hop->events->changed(hop->arg, hop);
}

static void hop_heard(struct child_user *user)
{
	struct hop *hop = (struct hop *)user;

	hop->events->changed(hop->arg, hop);
}

/* ---- records ---- */

static void trace_ask(struct hop *hop, const Evspace__Ask *ask)
{
	uint64_t now = span_since(hop->scope->span);

	if (!now)
		return;
	if (!hop->asked_ns)
		hop->asked_ns = memory_new(GATHER_WINDOW, sizeof(*hop->asked_ns));
	for (uint32_t k = 0; k < ask->count && k < GATHER_WINDOW; k++)
		hop->asked_ns[(ask->wave + k) % GATHER_WINDOW] = now;
}

bool hop_reachable(const struct hop *hop)
{
	return child_link(&hop->user) && !hop_left_out(hop) && !hop->refused.text[0];
}

bool hop_ready(const struct hop *hop)
{
	return hop->opened && hop_reachable(hop);
}

unsigned hop_ask(struct hop *hop, const Evspace__Ask *ask)
{
	struct link *link = child_link(&hop->user);
	Evspace__Ask down = *ask;
	unsigned margin = ask->deadline_ms / 10 > 2 ? ask->deadline_ms / 10 : 2;

	if (!hop_reachable(hop) || !hop_leads_to(hop, ask->only, ask->n_only))
		return 0;
	down.scope = hop->user.scope;
	down.deadline_ms = ask->deadline_ms > margin ? ask->deadline_ms - margin : 1;
	if (link_send(link, &WIRE_FRAME(ASK, ask, &down), NULL) < 0)
		return 0;
	hop->owes += ask->count;
	if (hop->said == URGENCY_UNSAID)
		hop->user.meek = ask->urgency == URGENCY_IDLE;
	child_expect(&hop->user);
	trace_ask(hop, ask);
	return hop->way;
}

bool hop_leads_to(const struct hop *hop, const uint32_t *leaves, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (below_has(&hop->below, leaves[i]))
			return true;
	}
	return n == 0;
}

/* ---- up ---- */

static void hop_relate(struct hop *hop, const struct batch *batch)
{
	const struct clock_offset offset = child_clock_offset(child_clock(&hop->user));
	int64_t theirs_ns = link_hello(child_link(&hop->user))->epoch_ns;
	struct batch_cursor c = {0};
	struct run_view run;

	while (batch_next_part(batch, &c, &run))
		clock_offset_move(&offset, &run.part->clock, theirs_ns, hop->scope->epoch_ns);
}

static void hop_refused(struct hop *hop, const Evspace__Error *error)
{
	struct error said;

	errorf(&said, "%.900s", error->text);
	hop_shut(hop, error->code, &said, child_quote);
}

static void wave_add(struct wave *w, const Evspace__Answer *a)
{
	w->leaves += a->leaves;
	wave_cpu(w, a->cpu_us);
	wave_fill(w, a->fill);
	w->waited_us = a->waited_us > w->waited_us ? a->waited_us : w->waited_us;
	for (size_t i = 0; i < a->n_missing; i++) {
		const Evspace__Missing *m = a->missing[i];

		wave_miss(w, m->leaf, m->why, clock_mono_ago_ns(m->since_ms), m->text);
	}
}

static void hop_take(struct hop *hop, const struct frame *frame, struct batch *body)
{
	const Evspace__Answer *a = frame->header->answer;
	const struct brought what = {
		.by = hop->user.child, .input = hop->input, .leaves = a->leaves};
	struct gather *g = hop->scope->gather;
	struct error e;
	struct wave *w;
	bool sure;

	w = gather_waiting(g, a->wave, a->again, hop->input, hop->way);
	sure = w && !a->again;
	/* a late answer serves a repeated ask for the wave */
	if (!w && !a->again)
		w = gather_waiting(g, a->wave, true, hop->input, hop->way);
	/* Too late: its leaves are already reported as missing, and keep their ranges until they
	 * are asked again. */
	if (!w) {
		batch_clear(body);
		return;
	}
	/* it is unknown which ask this answers, but not an earlier one */
	child_clock_hear(child_clock(&hop->user),
			 &(struct clock_probe){sure ? w->asked_ns : hop->up_ns, a->clock_ns,
					       a->sent_ns, clock_mono_ns()});
	hop->late_since = 0;
	hop->reopen_ms = REOPEN_FIRST_MS;
	hop_trace_answer(hop, w, frame->bytes, false);
	hop_relate(hop, body);
	if (gather_bring(g, w, &what, body, &e) == 0)
		wave_add(w, a);
	else
		hop_displaced(hop, w, e.text);
	batch_clear(body);
	/* it may end the scope, and this with it */
	gather_answered(g, w, hop->input);
}

/* Names in a late answer still count, as they are said only once. */
static int hop_answer_begin(struct hop *hop, const Evspace__Answer *a, struct error *e)
{
	const struct hearsay_child child = {hop->place->node, &hop->below, hop->scope->place};
	int learnt;

	if (hop->owes == 0) {
		errno = EPROTO;
		return errorf(e, "refused: it answers what it was not asked");
	}
	hop->owes--;
	hop->said = a->urgency ? urgency_asked(a->urgency) : URGENCY_UNSAID;
	hop->user.meek = hop->said == URGENCY_IDLE;
	hop_note_waited(hop, a->waited_us);
	learnt = hearsay_learn(&hop->heard, &child, a, hop->scope->names, e);
	if (learnt > 0)
		child_say(&hop->user, e->text);
	return learnt < 0 ? -1 : 0;
}

/* Refuses answers for leaves that are not below the child, and answers that were not asked for.
 * Returns 1 if a part of it remains to be checked. */
static int hop_answer_check(struct hop *hop, const Evspace__Answer *a, const struct batch *body,
			    struct error *e)
{
	if (!hop->spoken.of && hop_answer_begin(hop, a, e) < 0)
		return -1;
	return below_check(&hop->below, &hop->spoken, hop->scope->names, a, body,
			   clock_mono_ns() + TURN_NS, e);
}

static void hop_answer(struct hop *hop, const struct frame *frame)
{
	const Evspace__Answer *a = frame->header->answer;
	struct error e;
	int result;

	if (frame->bytes)
		batch_append_columns(&hop->body, frame->buffer, frame->at, frame->bytes,
				     frame->plain);
	result = hop_answer_check(hop, a, &hop->body, &e);
	if (result == 0) {
		hop_take(hop, frame, &hop->body);
		return;
	}
	batch_clear(&hop->body);
	if (result > 0)
		link_frame_again(child_link(&hop->user));
	else
		hop_shut(hop, EPROTO, &e, child_say);
}

static void hop_opened(struct hop *hop, const Evspace__Opened *o)
{
	seats_refuse(&hop->user, unready_hear(&hop->unready, hop->place, o));
	hop->opened = true;
	hop->refused.text[0] = '\0';
	hop->refused_ns = 0;
	evtimer_del(hop->reopen);
	hop_settle(hop);
	hop->events->changed(hop->arg, hop);
}

static void hop_frame(struct child_user *user, const struct frame *frame)
{
	struct hop *hop = (struct hop *)user;

	switch (frame->header->kind_case) {
	case EVSPACE__FRAME__KIND_OPENED:
		hop_opened(hop, frame->header->opened);
		break;
	case EVSPACE__FRAME__KIND_ANSWER:
		hop_answer(hop, frame);
		break;
	case EVSPACE__FRAME__KIND_ERROR:
		hop_refused(hop, frame->header->error);
		break;
	default:
		break;
	}
}

static const struct child_events hop_events = {
	.up = hop_up,
	.down = hop_down,
	.frame = hop_frame,
	.silent = hop_silent,
	.heard = hop_heard,
};

struct hop *hop_new(const struct hop_scope *scope, const struct plan_place *place, size_t input,
		    unsigned way, const struct hop_events *events, void *arg)
{
	struct hop *hop = memory_new(1, sizeof(*hop));

	hop->scope = scope;
	hop->place = place;
	hop->input = input;
	hop->way = way;
	hop->events = events;
	hop->arg = arg;
	below_init(&hop->below, place);
	hop->below.folds = scope->folds;
	hop->below.sampled = scope->open->sampled;
	hop->reopen = evtimer_new(scope->base, hop_reopen, hop);
	if (!hop->reopen)
		abort();
	child_join(scope->children, &hop->user, place->node, place->address, &hop_events);
	return hop;
}

void hop_free(struct hop *hop, bool keep)
{
	if (!hop)
		return;
	if (child_link(&hop->user))
		hop_close(hop, keep);
	event_free(hop->reopen);
	child_leave(&hop->user);
	unready_clear(&hop->unready);
	free(hop->asked_ns);
	below_spoken_fini(&hop->spoken);
	batch_fini(&hop->body);
	below_fini(&hop->below);
	free(hop);
}
