/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an experiment: counts collectives, orders blocks, takes what they took, looks in some. */
#include "consumers/perturb/experiment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "consumers/cli/command.h"
#include "consumers/cli/status-line.h"
#include "consumers/client/client-budget.h"
#include "consumers/client/client-pace.h"
#include "consumers/client/client-trial.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"

#define LOOK_S 1 /* to count collectives, and so often if there are none */
#define LOOKS  5u

/* At least so long is waited for agents. */
#define PATIENCE_MS 10000u

volatile sig_atomic_t experiment_stopped;

static void on_signal(int number)
{
	(void)number;
	experiment_stopped = 1;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static int experiment_end(struct experiment *x, enum exit_code code, const char *why)
{
	fprintf(stderr, "%s: %s\n", x->command, why);
	return x->code = code;
}

/* ---- the experiment's begin and end ---- */

static void classes_answered(const struct evspace_reply *reply, void *arg)
{
	struct experiment *x = arg;

	x->look = (struct frequency_look){0};
	x->processes = 0;
	memset(x->called, 0, sizeof(x->called));
	if (!options_answered(x->command, reply, &x->code))
		return;
	client_trial_look(reply->switched, &x->look);
	x->processes = x->look.processes;
	for (size_t i = 0; i < reply->switched->n_classes; i++) {
		const struct evspace_collected *c = &reply->switched->classes[i];
		int channel = channel_find(c->channel);

		if (channel >= 0 && channel < CHANNEL_PROGRAMS)
			x->called[channel] += c->calls;
	}
}

static void trial_answered(const struct evspace_reply *reply, void *arg)
{
	struct experiment *x = arg;

	if (!options_answered(x->command, reply, &x->code))
		return;
	for (size_t i = 0; i < reply->switched->n_hosts; i++) {
		const struct evspace_host_reply *h = &reply->switched->hosts[i];
		unsigned n = h->missing ? 1 : h->processes - h->changed;

		if (n > 0 && x->refused == 0)
			snprintf(x->why, sizeof(x->why),
				 "there is no experiment: %s: %s" EXPERIMENT_ELSE, h->name,
				 h->text[0]   ? h->text
				 : h->missing ? h->missing
					      : "it has not begun there");
		x->refused += n;
	}
}

/* Wait for what was asked. Returns whether it was answered. */
static bool experiment_await(struct experiment *x)
{
	(void)evspace_wait(x->control, -1);
	return x->code == EXIT_FINE;
}

/* All of the run. Where agents take idle cores alone, an answer may take a while. */
static struct evspace_among experiment_among(const struct experiment *x)
{
	struct evspace_among among = options_among(&x->common.look);

	among.view = NULL;
	among.deadline_ms = among.deadline_ms > PATIENCE_MS ? among.deadline_ms : PATIENCE_MS;
	return among;
}

/* By what was heard last. */
static bool has_ended(const struct experiment *x)
{
	const struct evspace_wave *w = evspace_wave(x->told);

	return w && w->answered > 0 && w->processes == 0 && w->n_missing == 0;
}

/* Of collectives by which blocks are counted, or of @all. */
static bool count_calls(struct experiment *x, bool all)
{
	static const char *const classes[] = {"collective@world"};
	struct evspace_among among = experiment_among(x);

	evspace_switch(x->control, &among, all ? NULL : classes, !all, EVSPACE_AS_IT_IS,
		       classes_answered, x);
	return experiment_await(x);
}

/* For LOOK_S, whether the program goes on. Returns false after a message. */
static bool look_on(struct experiment *x)
{
	uint64_t until = clock_mono_ns() + LOOK_S * UINT64_C(1000000000);

	while (clock_mono_ns() < until && !experiment_stopped) {
		if (evspace_next(x->told, 100) < 0) {
			experiment_end(x, EXIT_NO_CONNECTION, evspace_why(x->told));
			return false;
		}
		if (has_ended(x)) {
			x->ended = true;
			experiment_end(x, EXIT_BAD_NEWS, "the program has ended");
			return false;
		}
	}
	return true;
}

unsigned experiment_classes(struct experiment *x)
{
	uint64_t before[CHANNEL_PROGRAMS], hosts;
	unsigned channels = 0, looks = 0;

	if (!count_calls(x, true))
		return 0;
	do {
		hosts = x->look.hosts;
		memcpy(before, x->called, sizeof(before));
		if (!look_on(x) || !count_calls(x, true))
			return 0;
		/* who was away is back with all that it has called so far */
	} while (x->look.hosts != hosts && ++looks < LOOKS);
	for (unsigned i = 0; i < CHANNEL_PROGRAMS; i++)
		channels |= (unsigned)(x->called[i] > before[i]) << i;
	return channels;
}

static bool order(struct experiment *x)
{
	struct evspace_among among = experiment_among(x);

	evspace_try(x->control, &among, &x->trial, trial_answered, x);
	return experiment_await(x);
}

/* Count the collectives of a process in a second, or in up to LOOKS if there are none. Returns how
 * many there were each second; 0: none, or after a message with an exit code. */
static double count_each(struct experiment *x)
{
	struct frequency frequency = {0};
	double each = 0;

	for (unsigned i = 0; i <= LOOKS && each <= 0 && !experiment_stopped; i++) {
		if (i > 0 && !look_on(x))
			return 0;
		if (!count_calls(x, false) || x->processes == 0)
			return 0;
		each = frequency_take(&frequency, &x->look);
	}
	return each;
}

/* What is known not to be enough need not be waited for. */
static void rounds_check(const struct experiment *x, const struct blocks_plan *plan, double each)
{
	double least_s = EFFECT_PAIRS_LEAST * plan->arms * (double)plan->length / each;

	if ((double)x->ab_ns / 1e9 < least_s)
		fprintf(stderr,
			"%s: %.3g s are too short for an interval: its %u rounds, of %u blocks of "
			"%u collectives, take %.3g s at least\n",
			x->command, (double)x->ab_ns / 1e9, EFFECT_PAIRS_LEAST, plan->arms,
			plan->length, least_s);
}

/* Find out how many collectives there are in a block. Returns EXIT_FINE, or the exit code after a
 * message. */
static int experiment_plan(struct experiment *x)
{
	double each = count_each(x);
	struct blocks_plan plan;

	if (x->code != EXIT_FINE)
		return x->code;
	if (x->processes == 0)
		return experiment_end(x, EXIT_BAD_NEWS, "there is no live program to measure");
	if (each <= 0 && experiment_stopped)
		return experiment_end(x, EXIT_BAD_NEWS, "it was ended before it began");
	if (each <= 0)
		return experiment_end(
			x, EXIT_BAD_NEWS,
			"the program makes no collectives on MPI_COMM_WORLD now, so there "
			"is nothing to tell its iterations by" EXPERIMENT_ELSE);
	plan = blocks_plan(each, (double)x->block_ns / 1e9,
			   x->view ? EXPERIMENT_ARMS : EXPERIMENT_OBSERVE, clock_mono_ns());
	plan.again = true;
	rounds_check(x, &plan, each);
	x->trial = (struct evspace_trial){
		.arms = {EVSPACE_OFF, EVSPACE_OFF, x->mode, x->mode},
		.classes = {NULL, NULL, x->classes, x->classes},
		.n_arms = plan.arms,
		.length = plan.length,
		.wash = plan.wash,
		.seed = plan.seed,
		.lease_ms = (unsigned)(x->ab_ns / 1000000 + 10000),
	};
	blocks_free(x->blocks);
	x->blocks = blocks_new(&plan, x->processes);
	return EXIT_FINE;
}

/* Open a view. Returns NULL after a message. */
static struct evspace_client *view_open(struct experiment *x, bool told)
{
	static const char *const regions[] = {"/**/user"};
	struct common common = x->common;
	struct evspace_client *client;

	if (told) {
		common.look.view = "events";
		common.look.define = NULL;
		common.look.select = regions;
		common.look.n_select = 1;
		common.look.rate_hz = 4;
		common.look.hurry = 0;
	}
	client = options_open(x->command, &common, &x->code);
	if (client)
		client_budget_never(client);
	return client;
}

/* ---- measuring ---- */

/* Take what has come of blocks. Returns evspace_next(). */
static int take_blocks(struct experiment *x, int timeout_ms)
{
	int rc = evspace_next(x->told, timeout_ms);
	struct evspace_event event;

	while (rc == 1 && evspace_event(x->told, &event)) {
		if (strcmp(event.op, "evspace_block") != 0)
			continue;
		x->unnumbered |= (event.flags & EVSPACE_UNNUMBERED) != 0;
		blocks_add(x->blocks, event.seq_or_tag, event.peer, event.start_ns, event.end_ns);
	}
	return rc;
}

static void print_progress(const struct experiment *x, uint64_t spent_ns)
{
	struct effect_interval i = experiment_effect(x, EXPERIMENT_COLLECT);
	char line[200], effect[100] = "";

	if (isfinite(i.low))
		snprintf(effect, sizeof(effect), ": collecting %+.2f %% (%+.2f to %+.2f)",
			 i.estimate * 100, i.low * 100, i.high * 100);
	snprintf(line, sizeof(line), "%.0f of %.0f s, %llu rounds%s", (double)spent_ns / 1e9,
		 (double)x->ab_ns / 1e9, (unsigned long long)i.n, effect);
	status_line_show(line);
}

/* When looking began, or else when it ended. */
struct look_turns {
	bool looks;
	uint64_t since_ns;
};

/* It begins, or ends: waves are under way all that time, whatever this process does. */
static void turn(struct experiment *x, struct look_turns *t, bool looks)
{
	uint64_t now = clock_mono_ns();

	if (looks == t->looks)
		return;
	if (looks)
		client_pace_rested(x->view, t->since_ns);
	else
		x->looked_ns += now - t->since_ns;
	*t = (struct look_turns){looks, now};
}

/* Returns EXIT_FINE, or the exit code after a message. */
static int experiment_measure(struct experiment *x)
{
	uint64_t since = clock_mono_ns(), spent = 0, said = 0;
	struct look_turns turns = {.looks = false};
	bool shows = status_line_is_possible() && !x->common.json;
	int rc = 1;

	x->waves = 0;
	x->looked_ns = 0;
	while (rc >= 0 && spent < x->ab_ns && !experiment_stopped && !x->unnumbered && !x->ended) {
		bool looks = x->view &&
			     blocks_arm_now(x->blocks, clock_real_ns(), NULL) == EXPERIMENT_OBSERVE;

		turn(x, &turns, looks);
		if (looks) {
			rc = evspace_next(x->view, 50);
			x->waves += rc == 1;
		}
		if (rc >= 0)
			rc = take_blocks(x, looks ? 0 : 50);
		x->ended = rc >= 0 && has_ended(x);
		spent = clock_mono_ns() - since;
		if (shows && spent - said > UINT64_C(1000000000)) {
			print_progress(x, spent);
			said = spent;
		}
	}
	turn(x, &turns, false);
	status_line_clear();
	if (x->ended)
		fprintf(stderr, "%s: the program has ended, after %.1f of %.0f s\n", x->command,
			(double)spent / 1e9, (double)x->ab_ns / 1e9);
	if (rc < 0)
		return experiment_end(x, EXIT_NO_CONNECTION, evspace_why(x->told));
	if (x->unnumbered)
		return experiment_end(x, EXIT_BAD_NEWS,
				      "there is no experiment with this program: " BLOCKS_UNNUMBERED
					      EXPERIMENT_ELSE);
	return EXIT_FINE;
}

int experiment_run(struct experiment *x)
{
	int code = experiment_plan(x);

	if (code != EXIT_FINE)
		return code;
	x->refused = 0;
	if (!order(x))
		code = x->code;
	else if (x->refused)
		code = experiment_end(x, EXIT_BAD_NEWS, x->why);
	else
		code = experiment_measure(x);
	x->trial.n_arms = 0;
	x->code = EXIT_FINE;
	/* it may have begun somewhere in any case */
	if (code != EXIT_NO_CONNECTION && !x->ended)
		(void)order(x);
	x->trial.n_arms = x->view ? EXPERIMENT_ARMS : EXPERIMENT_OBSERVE;
	return code;
}

int experiment_open(struct experiment *x)
{
	if (x->ab_ns > EXPERIMENT_MOST_S * UINT64_C(1000000000))
		return experiment_end(x, EXIT_USAGE,
				      "an experiment lasts 59 minutes at most: shorten --ab");
	catch_signals();
	x->told = view_open(x, true);
	if (!x->told)
		return x->code;
	x->control = evspace_connect(&x->common.look);
	return EXIT_FINE;
}

int experiment_view(struct experiment *x)
{
	evspace_close(x->view);
	x->code = EXIT_FINE;
	x->view = view_open(x, false);
	return x->code;
}

void experiment_close(struct experiment *x)
{
	evspace_close(x->view);
	evspace_disconnect(x->control);
	options_close(&x->common, x->told);
	blocks_free(x->blocks);
}

struct effect_interval experiment_effect(const struct experiment *x, unsigned arm)
{
	return blocks_effect(x->blocks, arm, EXPERIMENT_CONFIDENCE);
}

double experiment_rate(const struct experiment *x)
{
	return x->looked_ns ? (double)x->waves * 1e9 / (double)x->looked_ns : 0;
}
