/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps a client's budget. On the program runs an experiment of two arms that change no mode: in
 * the blocks of one the client looks, in those of the other it does not. What the two differ by, at
 * the rate that was asked at, goes to the controller (consumers/budget/budget.h), which says the
 * rate from now on. Where no experiment can be made, the processor time of agents is all there is.
 */
#include "consumers/client/client-budget.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/budget/blocks.h"
#include "consumers/budget/budget.h"
#include "consumers/client/client.h"
#include "consumers/client/evspace-control.h"
#include "consumers/client/evspace-record.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

enum { ARM_QUIET, ARM_LOOKS, ARMS };

/* How long a block is, in s, and at least in waves. */
#define BLOCK_S	     0.4
#define BLOCK_WAVES  2
#define BLOCK_MOST_S 5

/* An experiment ends by itself after so long, in ms, if this process dies; and after how many s
 * another one begins, while levers move and when they have settled. */
#define LEASE_MS      60000u
#define SOON_S	      1.0
#define SETTLED_S     60.0
#define SETTLED_PAIRS 32u

/* To look at direct cost, and to count collectives, in s; and how often in vain. */
#define TURN_S 1.0
#define LOOKS  4u

/* Asks that are remembered, and blocks. */
#define ASKS   1024u
#define LOOKED 16u

/* Weight of a new wave in averages. */
#define NEW 0.1

/* In blocks without looks there may be this part of those with them: the borders are guessed. */
#define STRAY 0.3

enum stage { STAGE_COUNTS, STAGE_TRIES, STAGE_MEASURES, STAGE_RESTS };

struct client_budget {
	struct evspace_client *c;
	struct budget budget;
	struct budget_direct direct;
	enum stage stage;
	struct event *timer;
	struct evspace_question *question;
	struct evspace_client *told; /* of the blocks; NULL: none */
	struct evspace_trial trial;
	struct blocks *blocks;
	uint64_t rounds, until_ns, counted_ns, calls, first_calls;
	unsigned processes, refused, looks;
	char why[200], told_why[200]; /* why there is no experiment, "": there may be one */
	int64_t skew_ns;	      /* of the reference clock to this host's */
	int64_t asks[ASKS];	      /* on the reference clock */
	uint64_t n_asks;
	struct looked {
		uint32_t block;
		double hz;
	} looked[LOOKED];
	uint64_t wave_ns, written_ns; /* when the last wave came, and what collecting had cost */
};

static void budget_turn(struct client_budget *k);

static void budget_after(struct client_budget *k, double s)
{
	struct timeval wait = {(time_t)s, (suseconds_t)((s - floor(s)) * 1e6)};

	evtimer_add(k->timer, &wait);
}

static struct evspace_among budget_among(const struct client_budget *k)
{
	return (struct evspace_among){.run = k->c->opened_run, .deadline_ms = k->c->deadline_ms};
}

static int64_t budget_now(const struct client_budget *k)
{
	return clock_real_ns() + k->skew_ns;
}

/* ---- levers ---- */

/* What the client would ask for without a budget. */
static double wanted_hz(const struct evspace_client *c)
{
	if (!c->hurry)
		return c->rate_hz;
	return c->tempo.needed_s > 0 ? fmax(c->rate_hz, 1 / c->tempo.needed_s) : c->rate_hz;
}

static void levers_apply(struct client_budget *k)
{
	char words[300];

	k->c->limit_hz = k->budget.levers.rate_hz;
	if (!k->c->window_said && k->budget.levers.window > k->c->window)
		client_window(k->c, k->budget.levers.window);
	if (k->budget.plan.urgency)
		k->c->urgency =
			k->budget.levers.idle ? EVSPACE_URGENCY_IDLE : EVSPACE_URGENCY_DEFAULT;
	connection_note(k->c->connection, "%s%s%s", budget_words(&k->budget, words, sizeof(words)),
			k->why[0] ? "; direct cost only: " : "", k->why);
}

static void levers_step(struct client_budget *k)
{
	k->budget.plan.most_hz = wanted_hz(k->c);
	k->direct.alone = k->why[0] != '\0';
	if (budget_step(&k->budget, &k->direct))
		levers_apply(k);
}

/* ---- the experiment ---- */

static void looks_set(struct client_budget *k, bool looks)
{
	if (k->c->quiet != looks)
		return;
	k->c->quiet = !looks;
	client_pump(k->c);
}

/* Look as ever, and come back in @s. */
static void budget_rest(struct client_budget *k, double s)
{
	evspace_close(k->told);
	k->told = NULL;
	blocks_free(k->blocks);
	k->blocks = NULL;
	k->stage = STAGE_RESTS;
	k->until_ns = clock_mono_ns() + (uint64_t)(s * 1e9);
	looks_set(k, true);
	budget_after(k, fmin(s, TURN_S));
}

/* There is none, for now. */
static void budget_refuse(struct client_budget *k, const char *why)
{
	snprintf(k->why, sizeof(k->why), "%s", why);
	if (strcmp(k->why, k->told_why) != 0)
		connection_note(k->c->connection,
				"what looking costs cannot be measured on the program (%s): the "
				"budget is kept by the processor time of agents, %g times",
				k->why, BUDGET_DIRECT_MOST);
	memcpy(k->told_why, k->why, sizeof(k->why));
	budget_rest(k, SETTLED_S);
}

static void looked_add(struct client_budget *k, const struct evspace_event *e)
{
	struct looked *l = &k->looked[e->seq_or_tag % LOOKED];
	uint64_t n = k->n_asks < ASKS ? k->n_asks : ASKS, asks = 0;

	for (uint64_t i = 0; i < n; i++)
		asks += k->asks[i] >= e->start_ns && k->asks[i] < e->end_ns;
	l->block = e->seq_or_tag;
	l->hz = (double)asks * 1e9 / (double)(e->end_ns - e->start_ns);
}

/* How often was asked in the round's block of @arm; below 0: it is not known any more. */
static double looked_hz(const struct client_budget *k, const struct blocks_round *r, unsigned arm)
{
	for (uint32_t i = r->first; i < r->first + ARMS; i++)
		if (trial_arm(k->trial.seed, i, ARMS) == arm && k->looked[i % LOOKED].block == i)
			return k->looked[i % LOOKED].hz;
	return -1;
}

/* Another round is complete. */
static void round_take(struct client_budget *k, const struct blocks_round *r)
{
	double with = looked_hz(k, r, ARM_LOOKS), without = looked_hz(k, r, ARM_QUIET);

	k->rounds = r->n;
	if (with <= 0 || without < 0 || without > STRAY * with)
		return;
	budget_pair(&k->budget, r->did[ARM_LOOKS], with - without);
	levers_step(k);
}

static void told_take(struct client_budget *k)
{
	struct evspace_event e;

	while (k->told && evspace_next(k->told, 0) == 1)
		while (evspace_event(k->told, &e)) {
			if (strcmp(e.op, "evspace_block") != 0 || e.end_ns <= e.start_ns)
				continue;
			if (e.flags & EVSPACE_UNNUMBERED) {
				budget_refuse(k, BLOCKS_UNNUMBERED);
				return;
			}
			looked_add(k, &e);
			blocks_add(k->blocks, e.seq_or_tag, e.peer, e.start_ns, e.end_ns);
			if (blocks_round(k->blocks)->n > k->rounds)
				round_take(k, blocks_round(k->blocks));
		}
}

static void told_notify(struct evspace_client *told, enum evspace_news news, void *arg)
{
	struct client_budget *k = arg;

	if (news == EVSPACE_WAVE)
		told_take(k);
	else if (news == EVSPACE_ENDED)
		budget_refuse(k, evspace_why(told));
}

/* ---- its begin ---- */

static void tried(const struct evspace_reply *reply, void *arg)
{
	struct client_budget *k = arg;
	const char *why = reply->why;
	unsigned refused = reply->failure != EVSPACE_FINE;

	k->question = NULL;
	for (size_t i = 0; !refused && i < reply->switched->n_hosts; i++) {
		const struct evspace_host_reply *h = &reply->switched->hosts[i];

		if (h->missing || h->changed == h->processes)
			continue;
		refused = 1;
		why = h->text;
	}
	if (refused) {
		budget_refuse(k, why);
		return;
	}
	k->why[0] = '\0';
	k->stage = STAGE_MEASURES;
	k->until_ns = clock_mono_ns() + LEASE_MS * UINT64_C(1000000);
	budget_turn(k);
}

static void told_open(struct client_budget *k)
{
	static const char *const regions[] = {"/**/user"};
	const struct evspace_options o = {
		.run = k->c->opened_run,
		.view = "events",
		.select = regions,
		.n_select = 1,
		.rate_hz = 1,
		.deadline_ms = k->c->deadline_ms,
	};

	k->told = evspace_open_on(k->c->connection, &o, told_notify, k);
}

/* So many collectives a second are made. */
static void budget_try(struct client_budget *k, double each)
{
	double seconds = fmin(fmax(BLOCK_S, BLOCK_WAVES / k->budget.levers.rate_hz), BLOCK_MOST_S);
	struct evspace_among among = budget_among(k);
	struct blocks_plan plan = blocks_plan(each, seconds, ARMS, clock_mono_ns());

	k->trial = (struct evspace_trial){
		.arms = {EVSPACE_AS_IT_IS, EVSPACE_AS_IT_IS},
		.n_arms = ARMS,
		.length = plan.length,
		.wash = plan.wash,
		.seed = plan.seed,
		.lease_ms = LEASE_MS,
	};
	k->blocks = blocks_new(&plan, k->processes);
	k->rounds = 0;
	k->stage = STAGE_TRIES;
	told_open(k);
	k->question = evspace_try(k->c->connection, &among, &k->trial, tried, k);
}

static void counted(const struct evspace_reply *reply, void *arg)
{
	struct client_budget *k = arg;
	uint64_t now = clock_mono_ns();

	k->question = NULL;
	if (reply->failure != EVSPACE_FINE) {
		budget_refuse(k, reply->why);
		return;
	}
	k->processes = 0;
	k->calls = 0;
	for (size_t i = 0; i < reply->switched->n_hosts; i++)
		k->processes += reply->switched->hosts[i].processes;
	for (size_t i = 0; i < reply->switched->n_classes; i++)
		k->calls += reply->switched->classes[i].calls;
	if (k->looks++ == 0) {
		k->first_calls = k->calls;
		k->counted_ns = now;
	}
	if (k->calls > k->first_calls && k->processes > 0)
		budget_try(k, (double)(k->calls - k->first_calls) / k->processes * 1e9 /
				      (double)(now - k->counted_ns));
	else if (k->looks > LOOKS)
		budget_refuse(k, k->processes ? "it makes no collectives on MPI_COMM_WORLD now"
					      : "no process of it lives");
	else
		budget_after(k, TURN_S);
}

static void budget_count(struct client_budget *k)
{
	static const char *const classes[] = {"collective@world"};
	struct evspace_among among = budget_among(k);

	k->question =
		evspace_switch(k->c->connection, &among, classes, 1, EVSPACE_AS_IT_IS, counted, k);
}

/* ---- turns ---- */

static void budget_measure(struct client_budget *k)
{
	bool settled = k->budget.quiet >= SETTLED_PAIRS && k->budget.pairs > 2 * SETTLED_PAIRS;
	int64_t left_ns = 0;
	int arm;

	if (clock_mono_ns() > k->until_ns) {
		budget_rest(k, settled ? SETTLED_S : SOON_S);
		return;
	}
	arm = blocks_arm_now(k->blocks, budget_now(k), &left_ns);
	looks_set(k, arm != ARM_QUIET);
	budget_after(k, arm < 0 ? TURN_S / 10 : fmin((double)left_ns * 1e-9 + 0.001, TURN_S));
}

static void budget_turn(struct client_budget *k)
{
	if (k->stage == STAGE_MEASURES) {
		budget_measure(k);
		return;
	}
	if (k->why[0] || k->budget.pairs == 0)
		levers_step(k);
	if (k->stage == STAGE_RESTS && clock_mono_ns() < k->until_ns) {
		budget_after(k, TURN_S);
		return;
	}
	if (k->stage == STAGE_RESTS)
		k->looks = 0;
	k->stage = STAGE_COUNTS;
	if (!k->question)
		budget_count(k);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	budget_turn(arg);
}

void client_budget_begin(struct evspace_client *c)
{
	struct client_budget *k;

	if (c->share <= 0)
		return;
	k = memory_new(1, sizeof(*k));
	k->c = c;
	k->timer = evtimer_new(c->connection->base, on_turn, k);
	if (!k->timer)
		abort();
	c->budget = k;
	budget_begin(&k->budget,
		     &(struct budget_plan){
			     .share = c->share, .most_hz = wanted_hz(c), .urgency = !c->urgency},
		     &k->direct);
	levers_apply(k);
	budget_after(k, TURN_S);
}

void client_budget_end(struct evspace_client *c)
{
	struct evspace_client *other;
	struct client_budget *k = c->budget;

	/* it may be what another one is told by */
	LIST_FOREACH (other, &c->connection->scopes, entry)
		if (other->budget && other->budget->told == c)
			other->budget->told = NULL;
	if (!k)
		return;
	c->budget = NULL;
	evspace_cancel(k->question);
	if (k->stage == STAGE_MEASURES && c->connection->ready) {
		struct evspace_among among = budget_among(k);

		k->trial.n_arms = 0;
		evspace_cancel(evspace_try(c->connection, &among, &k->trial, tried, k));
	}
	evspace_close(k->told);
	blocks_free(k->blocks);
	event_free(k->timer);
	free(k);
}

/* ---- what looking costs directly ---- */

void client_budget_asked(struct evspace_client *c, uint32_t n)
{
	struct client_budget *k = c->budget;

	for (uint32_t i = 0; k && i < n; i++)
		k->asks[k->n_asks++ % ASKS] = budget_now(k);
}

static double averaged(double old, double new)
{
	return old > 0 ? old + NEW * (new - old) : new;
}

void client_budget_wave(struct evspace_client *c, const struct evspace_wave *w)
{
	struct client_budget *k = c->budget;
	uint64_t now = clock_mono_ns();

	if (!k || w->again || w->answered == 0)
		return;
	k->skew_ns = w->taken_ns - clock_real_ns();
	k->direct.wave_s = averaged(k->direct.wave_s, w->cpu_us * 1e-6 / w->answered);
	k->direct.late += NEW * ((w->answered < w->leaves) - k->direct.late);
	k->direct.latency_s = averaged(k->direct.latency_s, w->latency_s);
	if (k->wave_ns && w->processes > 0 && w->cost_ns >= k->written_ns && now > k->wave_ns)
		k->direct.collecting = averaged(k->direct.collecting,
						(double)(w->cost_ns - k->written_ns) /
							(double)(now - k->wave_ns) / w->processes);
	k->wave_ns = now;
	k->written_ns = w->cost_ns;
}

int evspace_spending(const struct evspace_client *c, struct evspace_spending *spending)
{
	const struct client_budget *k = c->budget;
	struct effect_interval i;

	if (!k)
		return 0;
	i = budget_effect(&k->budget, k->budget.levers.rate_hz);
	*spending = (struct evspace_spending){
		.budget = c->share,
		.rate_hz = k->budget.levers.rate_hz,
		.slowdown = i.estimate,
		.low = i.low,
		.high = i.high,
		.pairs = i.n,
		.collecting = k->direct.collecting,
		.why = k->why,
	};
	return 1;
}
