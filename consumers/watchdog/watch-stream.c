/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes the stream of events: calls that have returned already, and how long each rank computes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/client/client-budget.h"
#include "consumers/watchdog/watch.h"
#include "pathmap/base/quantity.h"
#include "tree/data/clock.h"
#include "tree/data/op-table.h"
#include "tree/data/op.h"

/* Pairs of a rank and a region that are scored, some 300 bytes each. */
#define SCORES_MOST (1u << 16)

/* Events are taken for so long at a time. */
#define TAKE_NS UINT64_C(100000000)

/* Who is slower than this, and loses so much of its time by it. */
#define SLOWER_THAN 0.7
#define SLOWER_COST 0.05

/* How often that is found out, and how old times may be. */
#define SCORE_EVERY_NS UINT64_C(500000000)
#define SCORE_LAST_NS  INT64_C(10000000000)

/* What is read of the program, by what is watched for: the first few, or all. */
static const char *const channels[] = {
	"/**/collective", "/**/comm", "/**/p2p", "/**/wait", "/**/user", "/**/rma", "/**/io",
};

#define CALLS_OF_ALL 2u

static bool watch_needs_stream(const struct watch *w)
{
	return w->on[WATCH_DESYNC] || w->on[WATCH_LATE] || w->on[WATCH_SLOWER];
}

int watch_stream_open(struct watch *w)
{
	struct evspace_options look = w->heartbeat.common.look;
	enum evspace_failure failure;
	char why[256];

	if (!watch_needs_stream(w))
		return -1;
	look.view = "events";
	look.backlog = 1;
	look.hurry = 1;
	/* the other one sees to it for both */
	look.collect = 0;
	look.select = channels;
	look.n_select = w->on[WATCH_SLOWER] ? sizeof(channels) / sizeof(channels[0]) : CALLS_OF_ALL;
	w->stream = evspace_open(&look, &failure, why, sizeof(why));
	if (!w->stream)
		fprintf(stderr, "evspace watch: events are not read: %s\n", why);
	/* of an archive also what stays open is told */
	if (w->stream && (w->on[WATCH_LATE] || (watch_replays(w) && w->on[WATCH_DESYNC])))
		w->late = colop_live_new(w->stream);
	w->scores = scores_new(SCORES_MOST);
	if (!w->stream)
		return options_failure(failure);
	if (w->heartbeat.client) {
		/* each keeps its half */
		client_budget_own(w->heartbeat.client, look.budget / 2);
		client_budget_own(w->stream, look.budget / 2);
	}
	return -1;
}

void watch_stream_close(struct watch *w)
{
	colop_live_free(w->late);
	evspace_close(w->stream);
	scores_free(w->scores);
	free(w->order.items);
}

/* ---- events ---- */

/* "/cluster/node/rank3/t1": the number of the thread, different for each of the program. */
static uint64_t thread_number(const struct thread_state *p)
{
	const char *t = strrchr(p->name, 't');

	return (uint64_t)(uint32_t)p->rank << 32 | (t ? strtoul(t + 1, NULL, 10) : 0);
}

/* Spawned worlds have ranks of their own, and are not scored. */
static void score(struct watch *w, const struct evspace_event *ev, const struct thread_state *p)
{
	struct score_call call = {
		.process = (uint32_t)p->rank,
		.thread = thread_number(p),
		.start_ns = ev->start_ns,
		.end_ns = ev->end_ns,
	};

	if (p->rank < 0 || p->world || ev->end_ns <= 0 || ev->flags & EVSPACE_COMPLETION)
		return;
	if (op_channel(ev->op_number) == CHANNEL_USER) {
		if (ev->op_number == OP_EVSPACE_REGION || ev->op_number == OP_EVSPACE_FUNCTION)
			scores_add(w->scores, call.process,
				   (struct score_region){.what = ev->seq_or_tag},
				   (double)(ev->end_ns - ev->start_ns), ev->end_ns);
		return;
	}
	if (op_channel(ev->op_number) == CHANNEL_COLLECTIVE && ev->comm)
		call.ends = (struct score_region){ev->comm, ev->op_number};
	scores_call(w->scores, &call);
}

void watch_find_slow(struct watch *w)
{
	const struct score_wish wish = {
		.below = SLOWER_THAN,
		.cost = SLOWER_COST,
		.since_ns = w->newest_ns - SCORE_LAST_NS,
	};

	if (w->on[WATCH_SLOWER])
		w->n_slow = scores_find(w->scores, &wish, w->slow, WATCH_SLOW);
}

/* Now and then. */
static void slow_look(struct watch *w, uint64_t now_ns)
{
	if (now_ns - w->scored_ns < SCORE_EVERY_NS)
		return;
	w->scored_ns = now_ns;
	watch_find_slow(w);
}

static void wave_take(struct watch *w)
{
	events_order(&w->order, w->stream);
	for (size_t i = 0; i < w->order.n; i++) {
		const struct evspace_event *ev = &w->order.items[i].event;
		struct thread_state state;

		thread_state_of(&state, ev, 0);
		disagreement_hear(w->heartbeat.agreement, w->stream, ev, &state);
		if (ev->end_ns > w->newest_ns)
			w->newest_ns = ev->end_ns;
		if (w->on[WATCH_SLOWER])
			score(w, ev, &state);
	}
}

void watch_stream_wave(struct watch *w)
{
	wave_take(w);
	if (w->late && w->order.n > 0)
		colop_live_begin(w->late, (uint64_t)w->order.items[0].event.start_ns);
	if (w->late && w->newest_ns > 0)
		colop_live_take(w->late, (uint64_t)w->newest_ns);
	slow_look(w, (uint64_t)w->newest_ns);
}

/* What it tells is told no more. */
static void stream_ends(struct watch *w)
{
	fprintf(stderr, "evspace watch: events are not read any more: %s\n",
		evspace_why(w->stream));
	w->deaf = w->drained = true;
	w->on[WATCH_LATE] = w->on[WATCH_SLOWER] = false;
}

void watch_stream_take(struct watch *w)
{
	const uint64_t until = clock_mono_ns() + TAKE_NS;
	int rc = 0;

	/* more may come than can be taken: the others have their turn, too */
	while (w->stream && !w->deaf && clock_mono_ns() < until &&
	       (rc = evspace_next(w->stream, 0)) > 0) {
		wave_take(w);
		w->drained = w->order.n == 0 && evspace_wave(w->stream)->processes == 0;
		if (w->late)
			colop_live_take(w->late, clock_mono_ns());
	}
	if (rc < 0)
		stream_ends(w);
	slow_look(w, clock_mono_ns());
}

/* ---- words ---- */

static void add_region(char *buf, const struct watch *w, struct score_region region)
{
	const char *label = region.comm ? NULL : evspace_label(w->stream, region.what);

	if (region.comm)
		words_add(buf, " before each %s on %s", op_name((uint16_t)region.what),
			  evspace_is_world(w->stream, region.comm) ? "the world" : "communicator ");
	if (region.comm && !evspace_is_world(w->stream, region.comm))
		words_add(buf, "%08x", region.comm);
	if (label)
		words_add(buf, " in each region \"%s\"", label);
	else if (!region.comm)
		words_add(buf, " in each region %08x", region.what);
}

void watch_say_slow(const struct watch *w, FILE *out)
{
	for (size_t i = 0; i < w->n_slow; i++) {
		const struct score_slow *s = &w->slow[i];
		char text[WORDS_TEXT] = "", ns[UNIT_TEXT], than[UNIT_TEXT], share[UNIT_TEXT];
		bool relative = s->relative <= s->own;

		if (relative)
			words_add(text, "rank %u is slower than rank %u: ", s->process, s->best);
		else
			words_add(text, "rank %u is slower than it was: ", s->process);
		words_add(text, "%s", unit_duration(ns, (uint64_t)s->ns));
		add_region(text, w, s->region);
		words_add(text, ", not %s (score %.2f); that is %s of its time",
			  unit_duration(than, (uint64_t)(relative ? s->best_ns : s->past_ns)),
			  relative ? s->relative : s->own, unit_share(share, s->cost));
		fprintf(out, "%s\n", text);
	}
}
