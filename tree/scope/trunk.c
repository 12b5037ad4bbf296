/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds one host's part of a tree for the first scope with a question, and lets others join it. */
#include "tree/scope/stage-fault.h"
#include "tree/scope/trunk-private.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/link/pass.h"
#include "tree/scope/ask.h"
#include "tree/wire/wire-place.h"

_Static_assert(RIDING_WAVES == GATHER_WINDOW, "riding keeps waves out of each other's slots");

/* ---- asks ---- */

/* When waves of the trunk are to begin. What a wave costs is wake-ups, and one is enough for waves
 * of several trunks: a consumer's, whose asks may wait, begin together. */
static uint64_t trunk_due(const struct trunk *t, uint64_t now)
{
	uint64_t due = riding_due(&t->riding, gather_busy(t->gather), now), patience;
	const struct trunk *other;

	if (due > now || t->riding.timed)
		return due;
	patience = riding_patience(&t->riding, gather_busy(t->gather));
	LIST_FOREACH (other, &t->host->trunks->all, entry) {
		uint64_t expected = riding_expected(&other->riding, now, patience);

		if (other != t && !other->riding.timed && expected > due)
			due = expected;
	}
	return due;
}

/* Wake up when waves are to begin. */
static void trunk_wait(struct trunk *t, uint64_t now)
{
	uint64_t due = trunk_due(t, now);
	struct timeval wait;

	if (due == UINT64_MAX)
		return;
	wait.tv_sec = (time_t)((due - now) / 1000000000u);
	wait.tv_usec = (suseconds_t)((due - now) % 1000000000u / 1000u) + 1;
	evtimer_add(t->go, &wait);
}

static void trunk_board(struct trunk *t, uint64_t now)
{
	struct ride ride;

	while (riding_begin(&t->riding, gather_busy(t->gather), now, &ride)) {
		Evspace__Ask ask = EVSPACE__ASK__INIT;

		if (t->stream)
			ask = *t->stream;
		ask.wave = ride.wave;
		ask.count = ride.count;
		ask.deadline_ms = ride.deadline_ms;
		ask.every_us = (uint32_t)(ride.every_ns / 1000u);
		trunk_begin(t, &ask);
	}
}

/* Begin what is due here, and with it what others have ready. */
static void trunk_go(struct trunk *t)
{
	uint64_t now = clock_mono_ns();
	struct trunk *other;

	if (trunk_due(t, now) <= now) {
		trunk_board(t, now);
		LIST_FOREACH (other, &t->host->trunks->all, entry) {
			if (other != t && !t->riding.timed && !other->riding.timed)
				trunk_board(other, now);
		}
	}
	trunk_wait(t, now);
}

static void trunk_gone_on(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	trunk_go(arg);
}

/* A stream has one asker, whose numbers are those of its cursors. */
static bool trunk_streams(const struct trunk *t)
{
	return !question_is(&t->question) && t->open->reading == READ_STREAM &&
	       t->place->index == 0 && t->place->n_children > 0;
}

/* Can it wait, and keep its numbers? One at a time: they begin in the order of their numbers. */
static bool stream_follows(struct trunk *t, const struct rider *rider, const Evspace__Ask *ask)
{
	const struct riding *r = &t->riding;
	bool follows;

	if (rider->waiting > 0)
		trunk_hurry(t);
	follows = ask->n_only == 0 && rider->waiting == 0 && ask->wave > r->last &&
		  ask->wave - r->last < UINT32_MAX;
	for (uint32_t k = 0; k < ask->count && follows; k++)
		follows = (r->slots[false].busy >> (ask->wave + k) % RIDING_WAVES & 1) == 0;
	return follows;
}

static void stream_note(struct trunk *t, const Evspace__Ask *ask)
{
	if (t->stream)
		evspace__ask__free_unpacked(t->stream, NULL);
	t->stream = (Evspace__Ask *)wire_copy(&ask->base);
}

/* Wait for waves of other trunks, to begin with them. */
static int trunk_wait_ask(struct trunk *t, struct trunk_asker *asker, const struct ride *ride,
			  struct error *e)
{
	if (riding_ask(&t->riding, &asker->rider, ride, clock_mono_ns(), e) < 0)
		return -1;
	trunk_go(t);
	return 0;
}

int trunk_ask(struct trunk *t, struct trunk_asker *asker, const Evspace__Ask *ask, struct error *e)
{
	const struct ride ride = {
		.wave = ask->wave,
		.count = ask->count,
		.deadline_ms = ask->deadline_ms,
		.every_ns = ask->every_us * UINT64_C(1000),
	};
	Evspace__Ask alone = *ask;

	if (question_is(&t->question) && ask->n_only == 0)
		return trunk_wait_ask(t, asker, &ride, e);
	if (trunk_streams(t) && stream_follows(t, &asker->rider, ask)) {
		stream_note(t, ask);
		return trunk_wait_ask(t, asker, &ride, e);
	}
	if (question_is(&t->question) &&
	    riding_alone(&t->riding, &asker->rider, &ride, &alone.wave, e) < 0)
		return -1;
	trunk_begin(t, &alone);
	return 0;
}

void trunk_hurry(struct trunk *t)
{
	riding_hurry(&t->riding);
	trunk_go(t);
}

unsigned trunk_awaits(const struct trunk *t, const struct trunk_asker *asker)
{
	return asker->rider.waiting +
	       (question_is(&t->question) ? asker->rider.seats : gather_busy(t->gather));
}

/* ---- building ---- */

static void trunk_settled(void *arg)
{
	struct trunk *t = arg;
	struct trunk_asker *asker;

	if (t->unsettled == 0 || --t->unsettled > 0)
		return;
	TAILQ_FOREACH (asker, &t->askers, entry)
		asker->settled(asker->arg);
}

static void trunk_joining(struct trunk *t)
{
	t->joining.turns = t->host->turns;
	t->joining.gather = t->gather;
	t->joining.names = t->scope_shared->names;
	t->joining.place = t->place->index;
	/* all above take them, up to the consumer, if the one above does and wants them */
	t->joining.folds = t->columns && t->open->folds;
	t->joining.sampled = t->open->sampled;
	t->joining.bare = !t->place->leaf && t->place->index < PLAN_PLACES;
	t->joining.joined = trunk_joined;
	t->joining.arg = t;
	joining_begin(&t->joining);
}

static int trunk_build(struct trunk *t, struct error *e)
{
	const struct plan_place *p = t->place;

	t->sharing = ask_sharing(p);
	t->scope_shared = scope_shared_join(t->host, t->host->scopes_shared, t->open, p, e);
	if (!t->scope_shared ||
	    chain_init(&t->local, p->local, p->n_local, t->scope_shared->names, e) < 0 ||
	    chain_init(&t->joining.chain, p->joined, p->n_joined, t->scope_shared->names, e) < 0)
		return -1;
	span_init(&t->span, t->host->tracer, t->open->view, t->open->run);
	t->local.span = t->joining.chain.span = &t->span;
	/* As who is above takes it; once, when the last stage here has looked. */
	t->joining.chain.opens = !t->columns;
	t->joining.chain.packs = t->columns && (p->n_joined > 0 || p->n_children == 0);
	t->local.packs = t->columns && !t->joining.chain.packs;
	t->gather = gather_new(t->host->base, p->n_children + 1, &trunk_gather_events, t);
	gather_quota_set(t->gather, t->scope_shared->quota);
	trunk_joining(t);
	t->shared = (struct hop_scope){
		.base = t->host->base,
		.self = t->host->self,
		.self_address = t->host->self_address,
		.children = t->host->children,
		.gather = t->gather,
		.names = t->scope_shared->names,
		.place = p->index,
		.span = &t->span,
		.open = t->open,
		.folds = t->joining.folds,
		.epoch_ns = t->host->epoch_ns,
		.settled = trunk_settled,
		.arg = t,
	};
	t->go = evtimer_new(t->host->base, trunk_gone_on, t);
	if (!t->go)
		abort();
	t->unsettled = p->n_children + 1;
	t->failovers = memory_new(p->n_children, sizeof(struct failover *));
	for (size_t i = 0; i < p->n_children; i++)
		t->failovers[t->n_branches++] = failover_new(&t->shared, p->children[i], i);
	if (!p->leaf) {
		trunk_settled(t);
		return 0;
	}
	t->intake = (struct intake){
		.turns = t->host->turns,
		.scope_shared = t->scope_shared,
		.place = p,
		.generation = t->open->generation,
		.gather = t->gather,
		.input = p->n_children,
		.begun = trunk_settled,
		.read = trunk_read,
		.arg = t,
	};
	intake_begin(&t->intake);
	return 0;
}

static void trunk_free(struct trunk *t, bool keep)
{
	LIST_REMOVE(t, entry);
	if (t->go)
		event_free(t->go);
	intake_fini(&t->intake);
	for (size_t i = 0; i < t->n_branches; i++)
		failover_free(t->failovers[i], keep);
	free(t->failovers);
	gather_free(t->gather);
	span_fini(&t->span);
	chain_fini(&t->local);
	joining_fini(&t->joining);
	batch_fini(&t->scratch);
	if (t->last)
		evspace__ask__free_unpacked(t->last, NULL);
	if (t->stream)
		evspace__ask__free_unpacked(t->stream, NULL);
	scope_shared_leave(t->scope_shared, t->open->generation, keep);
	wire_plan_place_free(t->place);
	question_fini(&t->question);
	evspace__open__free_unpacked(t->open, NULL);
	free(t);
}

static struct trunk *trunk_new(const struct scope_host *host, const Evspace__Open *open,
			       struct plan_place *place, const ProtobufCBinaryData *id,
			       struct question_packed question, bool columns, struct error *e)
{
	struct trunk *t = memory_new(1, sizeof(*t));
	Evspace__Open its = *open;

	if (id)
		its.id = *id;
	t->host = host;
	t->open = wire_open_bare(&its);
	t->place = place;
	t->question = question;
	t->columns = columns;
	t->since = time(NULL);
	batch_init(&t->scratch);
	TAILQ_INIT(&t->askers);
	/* who asks the root, index 0, is a consumer */
	riding_init(&t->riding, place->index != 0);
	t->riding.brief = open->reading == READ_STREAM;
	/* nobody looked: no wave is to blame for what was done meanwhile */
	if (LIST_EMPTY(&host->trunks->all))
		host->trunks->cpu_us = clock_cpu_us();
	LIST_INSERT_HEAD(&host->trunks->all, t, entry);
	if (trunk_build(t, e) == 0)
		return t;
	trunk_free(t, true);
	return NULL;
}

/* With old passes it could not come back to hosts that were away. */
static bool trunk_is_young(const struct trunk *t)
{
	return t->open->signer.len == 0 || time(NULL) - t->since < PASS_DAYS * PASS_DAY / 4;
}

static struct trunk *trunk_find(const struct trunk_list *trunks,
				const struct question_packed *question,
				const ProtobufCBinaryData *id, bool columns)
{
	struct trunk *t;

	LIST_FOREACH (t, &trunks->all, entry) {
		if (t->columns == columns && question_same(&t->question, question) &&
		    !trunk_is_broken(t, NULL) &&
		    (id ? id->len == t->open->id.len &&
				     memcmp(id->data, t->open->id.data, id->len) == 0
			: trunk_is_young(t)))
			return t;
	}
	return NULL;
}

struct trunk *trunk_join(const struct scope_host *host, const Evspace__Open *open,
			 struct plan_place *place, const ProtobufCBinaryData *id,
			 struct trunk_asker *asker, struct error *e)
{
	struct question_packed question = question_of(open, place);
	struct trunk *t = NULL;

	if (question_is(&question))
		t = trunk_find(host->trunks, &question, id, asker->columns);
	if (t) {
		wire_plan_place_free(place);
		question_fini(&question);
		if (scope_shared_more(t->scope_shared, id ? NULL : host->scopes_shared, e) < 0)
			return NULL;
	} else {
		t = trunk_new(host, open, place, id, question, asker->columns, e);
	}
	if (!t)
		return NULL;
	TAILQ_INSERT_TAIL(&t->askers, asker, entry);
	riding_join(&t->riding, &asker->rider);
	return t;
}

void trunk_leave(struct trunk *t, struct trunk_asker *asker, bool keep)
{
	if (!t)
		return;
	TAILQ_REMOVE(&t->askers, asker, entry);
	riding_leave(&t->riding, &asker->rider);
	if (TAILQ_EMPTY(&t->askers)) {
		trunk_free(t, keep);
		return;
	}
	scope_shared_less(t->scope_shared);
	/* it may have been waited for */
	trunk_go(t);
}

/* ---- what it is ---- */

bool trunk_has_settled(const struct trunk *t)
{
	return t->unsettled == 0;
}

bool trunk_is_broken(const struct trunk *t, struct error *e)
{
	return stage_fault_is(&t->local, e) || stage_fault_is(&t->joining.chain, e);
}

void trunk_unready(const struct trunk *t, failover_report *report, void *arg)
{
	for (size_t i = 0; i < t->n_branches; i++)
		failover_unready(t->failovers[i], report, arg);
}

int64_t trunk_since(const struct trunk *t)
{
	return t->since;
}

const ProtobufCBinaryData *trunk_id(const struct trunk *t)
{
	return &t->open->id;
}

size_t trunk_sharing(const struct trunk *t)
{
	return t->sharing;
}

const struct plan_place *trunk_place(const struct trunk *t)
{
	return t->place;
}

struct names *trunk_names(const struct trunk *t)
{
	return t->scope_shared->names;
}
