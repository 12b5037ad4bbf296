/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps a client's budget: its own, or its part of what the map lets all clients spend. What looks
 * cost is measured by experiments on the program (client-trial.h) and goes to the controller
 * (consumers/budget/budget.h), which says the rate from now on. Where no experiment can be made,
 * the processor time of agents is all there is.
 */
#include "consumers/client/client-budget.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/budget/budget.h"
#include "consumers/budget/collecting.h"
#include "consumers/client/client.h"
#include "consumers/client/client-collect.h"
#include "consumers/client/client-trial.h"
#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

/* After how many s another experiment begins, while levers move, and when they have settled. */
#define SOON_S	      1.0
#define SETTLED_S     60.0
#define SETTLED_PAIRS 32u

/* To look at direct cost, in s. */
#define TURN_S 1

/* Weight of a new wave in averages; of processor time, which is noisy, that of so many seconds. */
#define NEW	 0.1
#define STEADY_S 10.0

struct client_budget {
	struct evspace_client *c;
	struct budget budget;
	struct budget_direct direct;
	struct collecting written;
	double collecting; /* by that: as in struct budget_direct, but of all */
	struct event *timer;
	struct client_trial *trial;
	struct client_collect *collect; /* NULL: what is recorded stays */
	bool trying;			/* an experiment is under way */
	bool fits, said;		/* what was said last: all that is wanted is seen */
	uint64_t rest_ns;		/* until then there is none */
	char why[200], told_why[200];	/* why there is no experiment, "": there may be one */
	uint64_t waves;
	uint64_t wave_ns; /* when the last one was taken */
};

static void budget_after_turn(struct client_budget *k)
{
	static const struct timeval wait = {TURN_S, 0};

	evtimer_add(k->timer, &wait);
}

/* ---- levers ---- */

/* What the client would ask for without a budget. */
static double wanted_hz(const struct evspace_client *c)
{
	if (!c->hurry)
		return c->rate_hz;
	return c->tempo.needed_s > 0 ? fmax(c->rate_hz, 1 / c->tempo.needed_s) : c->rate_hz;
}

/* A budget that nobody has asked for is news only while it is too small. */
static void levers_say(struct client_budget *k)
{
	bool fits = budget_fits(&k->budget);
	char words[300];

	if (k->c->share > 0 || !fits || (k->said && !k->fits))
		connection_note(k->c->connection, "%s%s%s",
				budget_words(&k->budget, words, sizeof(words)),
				k->why[0] ? "; direct cost only: " : "", k->why);
	k->said = true;
	k->fits = fits;
}

static void levers_apply(struct client_budget *k)
{
	/* what it is computed to be from now on */
	if (k->budget.moved >> LEVER_ONE_IN & 1)
		k->collecting = k->direct.collecting = k->budget.direct.collecting;
	k->c->limit_hz = k->budget.levers.rate_hz;
	if (!k->c->window_said && k->budget.levers.window > k->c->window)
		client_window(k->c, k->budget.levers.window);
	if (k->budget.plan.urgency)
		k->c->urgency =
			k->budget.levers.idle ? EVSPACE_URGENCY_IDLE : EVSPACE_URGENCY_DEFAULT;
	levers_say(k);
}

/* What events cost is paid once, by all views that share a budget. */
static double collecting_of(const struct client_budget *k)
{
	const struct evspace_client *c = k->c;

	return c->total > 0 || c->whole <= 0 ? k->collecting : k->collecting * c->share / c->whole;
}

/* What there is for it now, and what is known. */
static void budget_look(struct client_budget *k, struct budget_plan *plan)
{
	const struct evspace_client *c = k->c;

	budget_shared(c->share, c->total, c->of_total, collecting_of(k), plan, &k->direct);
	plan->most_hz = wanted_hz(c);
	k->direct.alone = k->why[0] != '\0';
	k->direct.unsettled =
		k->collect && (client_collect_unsettled(k->collect) ||
			       client_collect_halvings(k->collect) != k->budget.levers.halvings);
}

static void levers_step(struct client_budget *k)
{
	budget_look(k, &k->budget.plan);
	if (budget_step(&k->budget, &k->direct))
		levers_apply(k);
}

/* ---- experiments ---- */

static void budget_pause(struct client_budget *k, double s)
{
	k->trying = false;
	k->rest_ns = clock_mono_ns() + (uint64_t)(s * 1e9);
	budget_after_turn(k);
}

static void trial_pair(void *arg, double log, double rate_hz)
{
	struct client_budget *k = arg;

	k->why[0] = '\0';
	budget_pair(&k->budget, log, rate_hz);
	levers_step(k);
}

static void trial_ended(void *arg, const char *why)
{
	struct client_budget *k = arg;
	bool settled = k->budget.quiet >= SETTLED_PAIRS && k->budget.pairs > 2 * SETTLED_PAIRS;

	if (!why) {
		budget_pause(k, settled ? SETTLED_S : SOON_S);
		return;
	}
	snprintf(k->why, sizeof(k->why), "%s", why);
	if (strcmp(k->why, k->told_why) != 0)
		connection_note(k->c->connection,
				"what looking costs cannot be measured on the program (%s): the "
				"budget is kept by the processor time of agents, %g times",
				k->why, BUDGET_DIRECT_MOST);
	memcpy(k->told_why, k->why, sizeof(k->why));
	budget_pause(k, SETTLED_S);
}

static const struct client_trial_events trial_events = {trial_pair, trial_ended};

/* Is there need for one? Nobody else can switch modes meanwhile. Before it is known what a wave
 * takes its blocks would be made for a rate that is not the one to come. */
static bool budget_tries(const struct client_budget *k)
{
	if (k->collect && client_collect_halvings(k->collect) > 0)
		return false;
	return clock_mono_ns() >= k->rest_ns && k->direct.wave_s > 0 &&
	       (k->c->share > 0 || !budget_fits(&k->budget));
}

/* ---- turns ---- */

/* While what is recorded is held nobody can experiment, this client neither. Not within the
 * experiment's own events, as it ends. */
static void collect_apply(struct client_budget *k)
{
	unsigned halvings = k->budget.levers.halvings;
	bool held = client_collect_halvings(k->collect) > 0;

	if (halvings > 0 && !held) {
		client_trial_free(k->trial);
		k->trial = client_trial_new(k->c, &trial_events, k);
		k->trying = false;
		k->c->quiet = false;
		client_pump(k->c);
		snprintf(k->why, sizeof(k->why), "modes are held to record less");
	} else if (halvings == 0 && held) {
		k->why[0] = '\0';
	}
	client_collect_set(k->collect, halvings);
}

static void on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct client_budget *k = arg;

	(void)fd;
	(void)what;
	if (!client_trial_measures(k->trial) && (k->why[0] || k->budget.pairs == 0))
		levers_step(k);
	if (k->collect)
		collect_apply(k);
	if (!k->trying && budget_tries(k)) {
		k->trying = true;
		client_trial_begin(k->trial, k->budget.levers.rate_hz);
	}
	budget_after_turn(k);
}

/* Then the budget is kept without. */
static void collect_failed(void *arg, const char *why)
{
	struct client_budget *k = arg;

	connection_note(k->c->connection, "what is recorded cannot be lessened: %s", why);
	k->budget.plan.collect = false;
	k->budget.levers.halvings = 0;
	k->why[0] = '\0';
}

static struct client_budget *budget_new(struct evspace_client *c)
{
	struct client_budget *k = memory_new(1, sizeof(*k));

	k->c = c;
	k->timer = evtimer_new(c->connection->base, on_turn, k);
	if (!k->timer)
		abort();
	k->trial = client_trial_new(c, &trial_events, k);
	if (c->collect)
		k->collect = client_collect_new(c, collect_failed, k);
	return k;
}

static void budget_free(struct client_budget *k)
{
	client_trial_free(k->trial);
	client_collect_free(k->collect);
	event_free(k->timer);
	free(k);
}

/* By what is known of the direct cost. */
static void budget_start(struct client_budget *k)
{
	struct budget_plan plan = {.urgency = !k->c->urgency, .collect = k->collect != NULL};

	k->c->budget = k;
	budget_look(k, &plan);
	budget_begin(&k->budget, &plan, &k->direct);
	levers_apply(k);
	budget_after_turn(k);
}

void client_budget_begin(struct evspace_client *c)
{
	if (c->share > 0)
		budget_start(budget_new(c));
}

void client_budget_never(struct evspace_client *c)
{
	c->aside = true;
}

void client_budget_end(struct evspace_client *c)
{
	struct evspace_client *other;

	/* it may be what another one is told by */
	LIST_FOREACH (other, &c->connection->scopes, entry)
		if (other->budget)
			client_trial_forget(other->budget->trial, c);
	if (!c->budget)
		return;
	budget_free(c->budget);
	c->budget = NULL;
}

void client_budget_own(struct evspace_client *c, double share)
{
	if (c->share <= 0)
		return;
	c->share = share;
	if (c->budget)
		levers_step(c->budget);
}

void client_budget_share(struct evspace_client *c, double total, double part)
{
	bool sound = total > 0 && total <= 1 && part > 0 && part <= total && !c->aside;

	c->total = sound ? total : 0;
	c->of_total = sound ? part : 0;
	if (!c->budget)
		return;
	if (sound || c->share > 0) {
		levers_step(c->budget);
		return;
	}
	client_budget_end(c);
	c->limit_hz = 0;
	c->quiet = false;
	client_pump(c);
	connection_note(c->connection, "the map has no budget for consumers any more");
}

/* ---- what looking costs directly ---- */

void client_budget_asked(struct evspace_client *c, uint32_t n)
{
	if (c->budget)
		client_trial_asked(c->budget->trial, n);
}

static double averaged(double old, double new, double weight)
{
	return old > 0 ? old + weight * (new - old) : new;
}

/* Whoever answers: a number for the hosts that have not. */
static uint64_t hosts_of(const struct evspace_wave *w)
{
	uint64_t hosts = w->leaves;

	for (size_t i = 0; i < w->n_missing; i++)
		hosts += (uint64_t)hash_bytes(w->missing[i].leaf, strlen(w->missing[i].leaf)) << 32;
	return hosts;
}

static void collecting_learn(struct client_budget *k, const struct evspace_wave *w)
{
	const struct collecting_wave said = {.taken_ns = w->taken_ns,
					     .hosts = hosts_of(w),
					     .written = w->written,
					     .cost_ns = w->cost_ns,
					     .processes = w->processes};
	double costs;

	/* just after it was changed this is of before, too */
	if (k->direct.unsettled)
		k->written = (struct collecting){0};
	costs = collecting_take(&k->written, &said);
	if (isfinite(costs))
		k->collecting = costs;
}

static void budget_wave(struct client_budget *k, const struct client_answer *a)
{
	const struct evspace_wave *w = &a->wave;
	/* of what is shared out each has its part of a wave that it shares */
	unsigned riders = k->c->total > 0 && a->riders ? a->riders : 1;
	uint64_t now = clock_mono_ns();

	double apart_s = (double)(now - k->wave_ns) * 1e-9;
	double weight = fmin(fmax(apart_s / STEADY_S, 1.0 / (double)(k->waves + 1)), 1);

	client_trial_clock(k->trial, w->taken_ns);
	/* the first one had to open the tree */
	if (k->waves > 0)
		k->direct.wave_s =
			averaged(k->direct.wave_s, w->cpu_us * 1e-6 / w->answered / riders, weight);
	k->direct.late += NEW * ((w->answered < w->leaves) - k->direct.late);
	k->direct.latency_s = averaged(k->direct.latency_s, w->latency_s, NEW);
	collecting_learn(k, w);
	k->waves++;
	k->wave_ns = now;
}

void client_budget_wave(struct evspace_client *c, const struct client_answer *a)
{
	struct client_budget *k = c->budget;

	if (a->wave.again || a->wave.answered == 0)
		return;
	if (k) {
		budget_wave(k, a);
	} else if (c->of_total > 0) {
		k = budget_new(c);
		budget_wave(k, a);
		budget_start(k);
	}
}

int evspace_spending(const struct evspace_client *c, struct evspace_spending *spending)
{
	const struct client_budget *k = c->budget;
	struct effect_interval i;

	if (!k)
		return 0;
	i = budget_effect(&k->budget, k->budget.levers.rate_hz);
	*spending = (struct evspace_spending){
		.budget = k->budget.plan.share,
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
