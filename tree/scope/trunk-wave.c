/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes waves through a trunk: asks children and source, and answers all scopes that ride on them.
 */
#include "tree/scope/stage-fault.h"
#include "tree/scope/trunk-private.h"

#include <event2/event.h>

#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/scope/ask.h"

/* ---- answers ---- */

/* The wave is complete; @cpu_us is the time that it took in this process. */
static void trunk_trace(struct trunk *t, const struct wave *w, uint32_t cpu_us)
{
	uint64_t now = span_since(&t->span);

	if (!now)
		return;
	span_write(&t->span, &(struct trace){
				     .op = OP_EVSPACE_WAVE,
				     .flags = w->n_missing ? TUPLE_FAILED : 0,
				     .since_ns = w->asked_ns,
				     .bytes = w->batch.bytes,
				     .peer = (int32_t)t->n_branches,
				     .wave = w->number,
			     });
	span_write(&t->span, &(struct trace){
				     .op = OP_EVSPACE_CPU,
				     .since_ns = now - cpu_us * UINT64_C(1000),
				     .peer = TUPLE_NO_PEER,
				     .wave = w->number,
			     });
}

/* A wave on its way to its riders. */
struct departure {
	struct wave *w;
	uint64_t number; /* as its parts say it */
};

/* Nobody else has the wave's runs, and a link copies them. */
static void wave_number(struct departure *tw, uint64_t number)
{
	struct batch_cursor c = {0};
	struct run_view run;

	if (number == tw->number)
		return;
	tw->number = number;
	while (batch_next_part(&tw->w->batch, &c, &run)) {
		if (!(run.run->flags & RUN_FOLD))
			run.run->first = number;
	}
}

static void trunk_answer(void *arg, struct rider *rider, uint64_t number)
{
	struct trunk_asker *asker = (struct trunk_asker *)rider;
	struct departure *tw = arg;

	wave_number(tw, number);
	asker->answer(asker->arg, tw->w, number);
}

/* The only asker has had it. */
static void trunk_answered(void *arg, struct rider *rider, uint64_t number)
{
	(void)arg;
	(void)rider;
	(void)number;
}

/* What stages have made of the wave cannot be sent, or they have failed. They have checked their
 * arguments: that is for lack of memory, a broken body, or the fault of a stage of others. */
static void trunk_drop(const struct trunk *t, struct wave *w, bool whole)
{
	const char *node = t->host->self;
	struct error e;

	if (whole)
		errorf(&e,
		       "what the stages of %s make of the wave stands for %.1f MiB, and an answer "
		       "has room for %u MiB; select less",
		       node, (double)w->batch.plain / (1 << 20), GATHER_PLAIN_MOST >> 20);
	else if (!stage_fault_is(&t->joining.chain, &e))
		errorf(&e, "the stages of %s cannot go on with what has come", node);
	wave_drop(w, t->place, e.text);
}

void trunk_joined(void *arg, struct wave *w, bool whole)
{
	struct trunk *t = arg;
	struct departure tw = {w, w->number};
	uint64_t cpu = clock_cpu_us(), now = clock_mono_ns();
	uint32_t below_us = w->cpu_us;

	if (!whole || w->batch.plain > GATHER_PLAIN_MOST)
		trunk_drop(t, w, whole);
	/* each trunk pays for its own waves: what others' took meanwhile is in theirs */
	wave_cpu(w, (uint32_t)(cpu - t->host->trunks->cpu_us));
	t->host->trunks->cpu_us = cpu;
	trunk_trace(t, w, w->cpu_us - below_us);
	w->riders = riding_seated(&t->riding, w->number, w->again);
	if (question_is(&t->question)) {
		riding_end(&t->riding, w->number, w->again, now, now - w->asked_ns, trunk_answer,
			   &tw);
	} else {
		trunk_answer(&tw, &TAILQ_FIRST(&t->askers)->rider, w->number);
		riding_end(&t->riding, w->number, w->again, now, now - w->asked_ns, trunk_answered,
			   NULL);
	}
	/* not from here: the wave still has its slot */
	if (!TAILQ_EMPTY(&t->riding.asks))
		event_active(t->go, EV_TIMEOUT, 1);
}

static void trunk_done(void *arg, struct wave *w)
{
	struct trunk *t = arg;

	joining_take(&t->joining, w);
}

static void trunk_late(void *arg, struct wave *w, size_t input)
{
	struct trunk *t = arg;

	if (input < t->n_branches)
		failover_miss(t->failovers[input], w, true);
	else
		intake_late(&t->intake, w);
}

static void trunk_displaced(void *arg, struct wave *w, const struct brought *what, const char *why)
{
	struct trunk *t = arg;

	if (what->input < t->n_branches)
		failover_displaced(t->failovers[what->input], w, why);
	else
		wave_miss(w, t->place->index, MISSING_REFUSED, w->asked_ns, why);
}

static void trunk_more(void *arg, struct wave *w)
{
	struct trunk *t = arg;
	uint64_t now = clock_mono_ns();
	Evspace__Ask ask = *t->last;

	ask.wave = w->number;
	ask.count = 1;
	ask.deadline_ms = w->deadline_ns > now ? (uint32_t)((w->deadline_ns - now) / 1000000u) : 0;
	ask.deadline_ms += ask.deadline_ms == 0;
	while (w->pending < t->place->concurrency && w->next < t->n_branches) {
		size_t input = w->next++;
		unsigned way = failover_ask(t->failovers[input], &ask);

		if (way)
			gather_expect(t->gather, w, input, way);
		else
			failover_miss(t->failovers[input], w, false);
	}
	/* the source is asked with the first */
	w->next += w->next == t->n_branches;
}

const struct gather_events trunk_gather_events = {
	.more = trunk_more,
	.late = trunk_late,
	.displaced = trunk_displaced,
	.done = trunk_done,
};

/* ---- asks ---- */

void trunk_read(void *arg, const struct ask *asked, struct wave *w)
{
	struct trunk *t = arg;
	struct ask ask = *asked;
	struct stage *source = t->scope_shared->source;
	const struct brought what = {.input = t->n_branches, .leaves = 1};
	uint64_t since = span_since(&t->span);
	struct error e = {""};
	int rc;

	ask.sampled = t->open->sampled;
	rc = source->ops->read(source, &ask, &t->scratch, &e);

	span_write(&t->span, &(struct trace){
				     .op = source->ops->op,
				     .since_ns = since,
				     .bytes = t->scratch.bytes,
				     .peer = TUPLE_NO_PEER,
				     .wave = w->number,
			     });
	names_place_set(t->scope_shared->names, t->place->index);
	if (rc == 0 && chain_apply(&t->local, &ask, &t->scratch, 0) == 0 &&
	    gather_bring(t->gather, w, &what, &t->scratch, &e) == 0) {
		w->leaves++;
		wave_fill(w, source->fill);
	} else {
		batch_clear(&t->scratch);
		(void)stage_fault_is(&t->local, &e);
		wave_miss(w, t->place->index, MISSING_REFUSED, w->asked_ns, e.text);
	}
}

/* The map may limit how many children are asked at once: that takes longer, and disturbs less. */
static bool trunk_is_throttled(const struct trunk *t, const Evspace__Ask *ask)
{
	return t->place->concurrency > 0 && t->place->concurrency < t->n_branches &&
	       ask->n_only == 0;
}

/* @ways: by which way each branch was asked; NULL: not yet. */
static void trunk_wave(struct trunk *t, const Evspace__Ask *ask, uint64_t number,
		       const unsigned *ways)
{
	struct wave *w =
		gather_begin(t->gather, number, ask->n_only > 0, ask->have, ask->deadline_ms);

	for (size_t i = 0; ways && i < t->n_branches; i++) {
		if (ways[i])
			gather_expect(t->gather, w, i, ways[i]);
		else if (failover_leads_to(t->failovers[i], ask->only, ask->n_only))
			failover_miss(t->failovers[i], w, false);
	}
	if (!ways) {
		w->next = 0;
		trunk_more(t, w);
	}
	if (t->place->leaf && ask_names(ask, t->place->index))
		intake_ask(&t->intake, ask, w);
	gather_seal(t->gather, w);
}

/* The most urgent of all that are asked for here. */
static enum urgency trunk_urgency(const struct trunk *t)
{
	enum urgency most = URGENCY_UNSAID;
	const struct trunk_asker *asker;

	TAILQ_FOREACH (asker, &t->askers, entry)
		most = asker->urgency > most ? asker->urgency : most;
	return most;
}

void trunk_begin(struct trunk *t, const Evspace__Ask *asked)
{
	Evspace__Ask urgent = *asked;
	const Evspace__Ask *ask = &urgent;
	unsigned *ways = NULL;

	urgent.urgency = trunk_urgency(t);

	if (trunk_is_throttled(t, ask)) {
		if (t->last)
			evspace__ask__free_unpacked(t->last, NULL);
		t->last = (Evspace__Ask *)wire_copy(&ask->base);
	} else {
		ways = memory_new(t->n_branches, sizeof(*ways));
	}
	for (size_t i = 0; ways && i < t->n_branches; i++)
		ways[i] = failover_ask(t->failovers[i], ask);
	for (uint32_t k = 0; k < ask->count; k++)
		trunk_wave(t, ask, ask->wave + k, ways);
	free(ways);
}
