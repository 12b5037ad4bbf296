/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures what a client's looks cost, by pauses in looking that the program's collectives time. */
#include "consumers/client/client-trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/budget/blocks.h"
#include "consumers/budget/frequency.h"
#include "consumers/client/client.h"
#include "consumers/client/client-budget.h"
#include "consumers/client/evspace-control.h"
#include "consumers/client/evspace-record.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

enum { ARM_QUIET, ARM_LOOKS, ARMS };

/* How long a block is, in s, and at least in waves. */
#define BLOCK_S	     0.4
#define BLOCK_WAVES  2
#define BLOCK_MOST_S 5

/* An experiment ends by itself after so long, in ms, if this process dies. */
#define LEASE_MS 60000u

/* To count collectives, in s; and how often in vain. */
#define TURN_S 1.0
#define LOOKS  4u

/* Asks that are remembered, and blocks: those of the greatest rate until a block is told. */
#define ASKS   32768u
#define LOOKED 16u

/* In blocks without looks there may be this part of those with them: the borders are guessed. */
#define STRAY 0.3

enum stage { STAGE_NONE, STAGE_COUNTS, STAGE_TRIES, STAGE_MEASURES };

struct client_trial {
	struct evspace_client *c;
	const struct client_trial_events *events;
	void *arg;
	enum stage stage;
	struct event *timer;
	struct evspace_question *question;
	struct evspace_client *told; /* of the blocks; NULL: none */
	struct evspace_trial trial;
	struct blocks *blocks;
	double rate_hz;
	uint64_t rounds, until_ns;
	struct frequency frequency; /* of collectives */
	unsigned processes, looks;
	int64_t skew_ns;    /* of the reference clock to this host's */
	int64_t asks[ASKS]; /* on the reference clock */
	uint64_t n_asks;
	struct looked {
		uint32_t block;
		double hz;
	} looked[LOOKED];
};

static void trial_after(struct client_trial *t, double s)
{
	struct timeval wait = {(time_t)s, (suseconds_t)((s - floor(s)) * 1e6)};

	evtimer_add(t->timer, &wait);
}

static struct evspace_among trial_among(const struct client_trial *t)
{
	return (struct evspace_among){.run = t->c->opened_run, .deadline_ms = t->c->deadline_ms};
}

static int64_t trial_now(const struct client_trial *t)
{
	return clock_real_ns() + t->skew_ns;
}

static void looks_set(struct client_trial *t, bool looks)
{
	if (t->c->quiet != looks)
		return;
	t->c->quiet = !looks;
	client_pump(t->c);
}

static void tried(const struct evspace_reply *reply, void *arg);

/* The agents need not wait for the end of its lease. */
static void trial_stop(struct client_trial *t)
{
	struct evspace_among among = trial_among(t);

	evspace_cancel(t->question);
	t->question = NULL;
	if (t->stage >= STAGE_TRIES && t->c->connection->ready) {
		t->trial.n_arms = 0;
		evspace_cancel(evspace_try(t->c->connection, &among, &t->trial, tried, t));
	}
	evspace_close(t->told);
	t->told = NULL;
	blocks_free(t->blocks);
	t->blocks = NULL;
	t->stage = STAGE_NONE;
}

/* Look as ever. */
static void trial_end(struct client_trial *t, const char *why)
{
	char copy[200] = "";

	if (why)
		snprintf(copy, sizeof(copy), "%s", why);
	trial_stop(t);
	evtimer_del(t->timer);
	looks_set(t, true);
	t->events->ended(t->arg, why ? copy : NULL);
}

/* ---- rounds ---- */

static void looked_add(struct client_trial *t, const struct evspace_event *e)
{
	struct looked *l = &t->looked[e->seq_or_tag % LOOKED];
	uint64_t n = t->n_asks < ASKS ? t->n_asks : ASKS, asks = 0;

	for (uint64_t i = 0; i < n; i++)
		asks += t->asks[i] >= e->start_ns && t->asks[i] < e->end_ns;
	l->block = e->seq_or_tag;
	l->hz = (double)asks * 1e9 / (double)(e->end_ns - e->start_ns);
}

/* How often was asked in the round's block of @arm; below 0: it is not known any more. */
static double looked_hz(const struct client_trial *t, const struct blocks_round *r, unsigned arm)
{
	for (uint32_t i = r->first; i < r->first + ARMS; i++)
		if (trial_arm(t->trial.seed, i, ARMS) == arm && t->looked[i % LOOKED].block == i)
			return t->looked[i % LOOKED].hz;
	return -1;
}

/* Another round is complete. */
static void round_take(struct client_trial *t, const struct blocks_round *r)
{
	double with = looked_hz(t, r, ARM_LOOKS), without = looked_hz(t, r, ARM_QUIET);

	t->rounds = r->n;
	if (with > 0 && without >= 0 && without <= STRAY * with)
		t->events->pair(t->arg, r->did[ARM_LOOKS], with - without);
}

static void told_take(struct client_trial *t)
{
	struct evspace_event e;

	while (t->told && evspace_next(t->told, 0) == 1)
		while (evspace_event(t->told, &e)) {
			if (strcmp(e.op, "evspace_block") != 0 || e.end_ns <= e.start_ns)
				continue;
			if (e.flags & EVSPACE_UNNUMBERED) {
				trial_end(t, BLOCKS_UNNUMBERED);
				return;
			}
			looked_add(t, &e);
			blocks_add(t->blocks, e.seq_or_tag, e.peer, e.start_ns, e.end_ns);
			if (blocks_round(t->blocks)->n > t->rounds)
				round_take(t, blocks_round(t->blocks));
		}
}

static void told_notify(struct evspace_client *told, enum evspace_news news, void *arg)
{
	struct client_trial *t = arg;

	if (news == EVSPACE_WAVE)
		told_take(t);
	else if (news == EVSPACE_ENDED)
		trial_end(t, evspace_why(told));
}

/* ---- measuring ---- */

static void trial_measure(struct client_trial *t)
{
	int64_t left_ns = 0;
	int arm;

	if (clock_mono_ns() > t->until_ns) {
		trial_end(t, NULL);
		return;
	}
	arm = blocks_arm_now(t->blocks, trial_now(t), &left_ns);
	looks_set(t, arm != ARM_QUIET);
	trial_after(t, arm < 0 ? TURN_S / 10 : fmin((double)left_ns * 1e-9 + 0.001, TURN_S));
}

/* ---- its begin ---- */

static void tried(const struct evspace_reply *reply, void *arg)
{
	struct client_trial *t = arg;
	const char *why = reply->why;
	unsigned refused = reply->failure != EVSPACE_FINE;

	t->question = NULL;
	for (size_t i = 0; !refused && i < reply->switched->n_hosts; i++) {
		const struct evspace_host_reply *h = &reply->switched->hosts[i];

		if (h->missing || h->changed == h->processes)
			continue;
		refused = 1;
		why = h->text;
	}
	if (refused) {
		trial_end(t, why);
		return;
	}
	t->stage = STAGE_MEASURES;
	t->until_ns = clock_mono_ns() + LEASE_MS * UINT64_C(1000000);
	trial_measure(t);
}

static void told_open(struct client_trial *t)
{
	static const char *const regions[] = {"/**/user"};
	const struct evspace_options o = {
		.run = t->c->opened_run,
		.view = "events",
		.select = regions,
		.n_select = 1,
		.rate_hz = 1,
		.deadline_ms = t->c->deadline_ms,
	};

	t->told = evspace_open_on(t->c->connection, &o, told_notify, t);
	client_budget_never(t->told);
}

/* So many collectives a second are made. */
static void trial_try(struct client_trial *t, double each)
{
	double seconds = fmin(fmax(BLOCK_S, BLOCK_WAVES / t->rate_hz), BLOCK_MOST_S);
	struct evspace_among among = trial_among(t);
	struct blocks_plan plan = blocks_plan(each, seconds, ARMS, clock_mono_ns());

	t->trial = (struct evspace_trial){
		.arms = {EVSPACE_AS_IT_IS, EVSPACE_AS_IT_IS},
		.n_arms = ARMS,
		.length = plan.length,
		.wash = plan.wash,
		.seed = plan.seed,
		.lease_ms = LEASE_MS,
	};
	t->blocks = blocks_new(&plan, t->processes);
	t->rounds = 0;
	t->stage = STAGE_TRIES;
	told_open(t);
	t->question = evspace_try(t->c->connection, &among, &t->trial, tried, t);
}

void client_trial_look(const struct evspace_switched *switched, struct frequency_look *look)
{
	*look = (struct frequency_look){.hosts = switched->n_hosts, .when_ns = clock_mono_ns()};
	for (size_t i = 0; i < switched->n_hosts; i++) {
		const struct evspace_host_reply *h = &switched->hosts[i];

		look->processes += h->missing ? 0 : h->processes;
		if (h->missing)
			look->hosts += (uint64_t)hash_bytes(h->name, strlen(h->name)) << 32;
	}
	for (size_t i = 0; i < switched->n_classes; i++)
		look->calls += switched->classes[i].calls;
}

static void counted(const struct evspace_reply *reply, void *arg)
{
	struct client_trial *t = arg;
	struct frequency_look look;
	double each;

	t->question = NULL;
	if (reply->failure != EVSPACE_FINE) {
		trial_end(t, reply->why);
		return;
	}
	client_trial_look(reply->switched, &look);
	t->processes = look.processes;
	each = frequency_take(&t->frequency, &look);
	if (each > 0)
		trial_try(t, each);
	else if (t->looks++ == LOOKS)
		trial_end(t, t->processes ? "it makes no collectives on MPI_COMM_WORLD now"
					  : "no process of it lives");
	else
		trial_after(t, TURN_S);
}

static void trial_count(struct client_trial *t)
{
	static const char *const classes[] = {"collective@world"};
	struct evspace_among among = trial_among(t);

	t->question =
		evspace_switch(t->c->connection, &among, classes, 1, EVSPACE_AS_IT_IS, counted, t);
}

/* ---- its life ---- */

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct client_trial *t = arg;

	(void)fd;
	(void)what;
	if (t->stage == STAGE_MEASURES)
		trial_measure(t);
	else if (t->stage == STAGE_COUNTS && !t->question)
		trial_count(t);
}

struct client_trial *client_trial_new(struct evspace_client *c,
				      const struct client_trial_events *events, void *arg)
{
	struct client_trial *t = memory_new(1, sizeof(*t));

	t->c = c;
	t->events = events;
	t->arg = arg;
	t->timer = evtimer_new(c->connection->base, on_turn, t);
	if (!t->timer)
		abort();
	return t;
}

void client_trial_free(struct client_trial *t)
{
	if (!t)
		return;
	trial_stop(t);
	event_free(t->timer);
	free(t);
}

void client_trial_begin(struct client_trial *t, double rate_hz)
{
	t->rate_hz = rate_hz;
	t->looks = 0;
	t->frequency = (struct frequency){0};
	t->stage = STAGE_COUNTS;
	trial_after(t, 0);
}

bool client_trial_measures(const struct client_trial *t)
{
	return t->stage == STAGE_MEASURES;
}

void client_trial_asked(struct client_trial *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		t->asks[t->n_asks++ % ASKS] = trial_now(t);
}

void client_trial_clock(struct client_trial *t, int64_t ns)
{
	t->skew_ns = ns - clock_real_ns();
}

void client_trial_forget(struct client_trial *t, const struct evspace_client *c)
{
	if (t->told == c)
		t->told = NULL;
}
