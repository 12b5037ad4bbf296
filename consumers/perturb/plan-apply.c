/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace plan of a running program: measures it, switches it as planned, and plans again. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/perturb/drift.h"
#include "consumers/perturb/planning.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"

/* A lease outlives two measurements by so much. */
#define LEASE_MS 5000u

static volatile int stopped;

static void on_signal(int number)
{
	(void)number;
	stopped = 1;
}

/* Measure the program. Returns EXIT_FINE, or the exit code after a message. */
static int live_read(struct planning *p)
{
	int code = EXIT_FINE;

	if (!p->live)
		p->live = plan_live_new(&p->common, &p->weights, &p->minimums, &code);
	if (code == EXIT_FINE)
		code = plan_live_measure(p->live, p->duration_ns, &stopped, &p->table);
	p->limits.share = p->budget;
	p->limits.t_sampling = plan_live_t_sampling(p->live);
	for (size_t i = 0; i < p->table.n && p->t_detect > 0; i++)
		p->table.classes[i].t_detect = p->t_detect;
	return code;
}

static int print_table(const struct planning *p)
{
	printf("# --t-report %.3g --t-sampling %.3g\n"
	       "class frequency weight duty t_trace minimum t_detect t_sampling\n",
	       plan_live_t_report(p->live), plan_live_t_vain(p->live));
	for (size_t i = 0; i < p->table.n; i++) {
		const struct event_class *c = &p->table.classes[i];

		printf("%s %.6g %g %.6g %.3g %g %.3g %.3g\n", p->table.names[i], c->frequency,
		       c->weight, c->duty, c->t_trace, c->minimum, c->t_detect, c->t_sampling);
	}
	return EXIT_FINE;
}

static const char *const reasons[] = {
	[DRIFT_STAYS] = "",
	[DRIFT_NONE] = "no plan keeps the budget and the minimums: all is only counted until one "
		       "does; raise the budget, or lower the minimums",
	[DRIFT_FRESH] = "there are classes that it was not about",
	[DRIFT_STRAYED] = "modes were not as planned any more",
	[DRIFT_OVER] = "collecting takes more than the budget",
	[DRIFT_BETTER] = "another plan tells more by now",
	[DRIFT_PROBE] = "a look takes more or less than it did",
};

/* A plan of a running program, in effect or not. */
struct live_plan {
	enum evspace_mode *modes; /* one a class */
	double probing_hz, information, used;
	bool none; /* it is the cheapest, as none keeps the budget */
};

/* Which part of a class's events is recorded in the mode. */
static double mode_part(enum evspace_mode mode)
{
	if (mode == EVSPACE_TRACE)
		return 1;
	return mode >= EVSPACE_ONE_IN ? ldexp(1, EVSPACE_ONE_IN - mode) : 0;
}

/* What the modes of the plan take and tell, by what was measured last. What is neither recorded nor
 * only counted has to be seen. */
static void live_value(const struct planning *p, struct live_plan *plan)
{
	double hits = 0, least = 0, left;

	plan->used = plan->information = 0;
	for (size_t i = 0; i < p->table.n; i++) {
		const struct event_class *c = &p->table.classes[i];
		double part = mode_part(plan->modes[i]);
		double passed = plan->modes[i] == EVSPACE_COUNT ? 0 : 1 - part;

		plan->used += c->frequency * (part * c->t_trace + passed * c->t_detect);
		plan->information += part * c->frequency * c->weight;
		if (plan->modes[i] == EVSPACE_SAMPLE) {
			hits += c->duty * c->weight;
			least = fmax(least, c->minimum);
		}
	}
	left = knapsack_left(&p->limits, plan->used);
	if (!p->reduce)
		plan->information = left >= least ? plan->information + left * hits : 0;
}

/* The best plan without a probe, as far as parts can be switched: halves of halves. Returns false
 * if there is none. */
static bool best_reduced(const struct planning *p, struct live_plan *best)
{
	double *hz = memory_new(p->table.n, sizeof(*hz));
	struct reduced_plan plan;
	bool found = planning_reduce(p, hz, &plan);

	best->probing_hz = 0;
	for (size_t i = 0; i < p->table.n && found; i++) {
		int halvings = knapsack_halvings(&p->table.classes[i], hz[i]);

		best->modes[i] = halvings == 0	? EVSPACE_TRACE
				 : halvings > 0 ? EVSPACE_ONE_IN + (enum evspace_mode)halvings
						: EVSPACE_COUNT;
	}
	free(hz);
	return found;
}

static bool best_probing(const struct planning *p, struct live_plan *best)
{
	struct probing_plan *plan = knapsack_plans_new(1, p->table.n);
	bool *counted = memory_new(p->table.n + 1, sizeof(*counted)), samples = false;
	bool found = planning_probe(p, plan, counted);
	/* to the formula a long event that a fast probe hits again and again tells more than a
	 * record of it, which has all of it */
	bool all_fit = plan_all_fit(p);

	for (size_t i = 0; i < p->table.n; i++) {
		bool traced = all_fit || plan->traced[i];

		best->modes[i] = traced	      ? EVSPACE_TRACE
				 : counted[i] ? EVSPACE_COUNT
					      : EVSPACE_SAMPLE;
		samples = samples || best->modes[i] == EVSPACE_SAMPLE;
	}
	best->probing_hz = samples ? plan->probing_hz : 0;
	knapsack_plans_free(plan);
	free(counted);
	return found || all_fit;
}

/* The best plan that keeps the budget, or else the cheapest. */
static void best_find(const struct planning *p, struct live_plan *best)
{
	best->none = !(p->reduce ? best_reduced(p, best) : best_probing(p, best));
	if (!best->none)
		return;
	best->probing_hz = 0;
	for (size_t i = 0; i < p->table.n; i++)
		best->modes[i] = EVSPACE_COUNT;
}

/* ---- what changes ---- */

/* "p2p 1/8, wait none": what is recorded of each class. The caller must free() it. */
static char *parts_text(const struct planning *p, const struct live_plan *plan)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < p->table.n; i++) {
		enum evspace_mode mode = plan->modes[i];

		fprintf(out, "%s%s ", i > 0 ? ", " : "", p->table.names[i]);
		if (mode > EVSPACE_ONE_IN)
			fprintf(out, "1/%u", 1u << (mode - EVSPACE_ONE_IN));
		else
			fputs(mode == EVSPACE_TRACE ? "all" : "none", out);
	}
	fclose(out);
	return text;
}

static json_t *parts_json(const struct planning *p, const struct live_plan *plan)
{
	json_t *parts = json_object();

	for (size_t i = 0; i < p->table.n; i++)
		json_object_set_new(parts, p->table.names[i],
				    json_figure(mode_part(plan->modes[i])));
	return parts;
}

/* The classes that are in the mode; EVSPACE_SAMPLE: in none of the two others. */
static bool *with_mode(const struct planning *p, const struct live_plan *plan,
		       enum evspace_mode mode)
{
	bool *with = memory_new(p->table.n + 1, sizeof(*with));

	for (size_t i = 0; i < p->table.n; i++) {
		enum evspace_mode its = plan->modes[i];

		if (its != EVSPACE_TRACE && its != EVSPACE_COUNT)
			its = EVSPACE_SAMPLE;
		with[i] = its == mode;
	}
	return with;
}

static json_t *names_json(const struct planning *p, const struct live_plan *plan,
			  enum evspace_mode mode)
{
	bool *with = with_mode(p, plan, mode);
	json_t *names = plan_json_classes(p, with, true);

	free(with);
	return names;
}

static void names_print(const struct planning *p, const struct live_plan *plan,
			enum evspace_mode mode, const char *what)
{
	bool *with = with_mode(p, plan, mode);
	char *names = plan_names(p, with, true);

	printf("%s%s", what, names);
	free(names);
	free(with);
}

static void change_json(const struct planning *p, const struct live_plan *plan, enum drift_why why,
			double used)
{
	const struct evspace_spent *spent = plan_live_spent(p->live);

	json_print(json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "change",
			     "why", reasons[why], "traced", names_json(p, plan, EVSPACE_TRACE),
			     p->reduce ? "reduced" : "sampled", names_json(p, plan, EVSPACE_SAMPLE),
			     "counted", names_json(p, plan, EVSPACE_COUNT), "parts",
			     parts_json(p, plan), "probing_hz", json_figure(plan->probing_hz),
			     "information", json_figure(plan->information), "used",
			     json_figure(used), "slowdown",
			     json_figure(spent ? spent->slowdown : NAN), "low",
			     json_figure(spent ? spent->low : NAN), "high",
			     json_figure(spent ? spent->high : NAN)),
		   stdout);
}

static void change_text(const struct planning *p, const struct live_plan *plan, enum drift_why why,
			double used)
{
	const struct evspace_spent *spent = plan_live_spent(p->live);
	char share[UNIT_TEXT], cost[UNIT_TEXT], low[UNIT_TEXT], high[UNIT_TEXT];
	char *parts = parts_text(p, plan);

	if (p->reduce) {
		printf("recorded: %s", parts);
	} else {
		names_print(p, plan, EVSPACE_TRACE, "traced: ");
		names_print(p, plan, EVSPACE_SAMPLE, "; sampled: ");
		if (plan->probing_hz > 0)
			printf(" at %.3g Hz", plan->probing_hz);
		names_print(p, plan, EVSPACE_COUNT, "; only counted: ");
	}
	printf(" (collecting took %s; %s)\n", unit_share(share, used), reasons[why]);
	if (spent && isfinite(spent->high))
		printf("measured before: slowdown %s (%s to %s)\n",
		       unit_share(cost, spent->slowdown), unit_share(low, spent->low),
		       unit_share(high, spent->high));
	else if (spent)
		puts("measured before: nothing, as too few events were timed");
	free(parts);
}

static void change_print(const struct planning *p, const struct live_plan *plan, enum drift_why why,
			 double used)
{
	if (p->common.json)
		change_json(p, plan, why, used);
	else
		change_text(p, plan, why, used);
	fflush(stdout);
}

/* Is all recorded? */
static bool is_whole(const struct planning *p, const struct live_plan *plan)
{
	for (size_t i = 0; i < p->table.n; i++)
		if (plan->modes[i] != EVSPACE_TRACE)
			return false;
	return true;
}

static bool is_probed(const struct planning *p, const struct live_plan *plan)
{
	for (size_t i = 0; i < p->table.n; i++)
		if (plan->modes[i] == EVSPACE_SAMPLE)
			return true;
	return false;
}

/* The plan stays: the probe follows what a look takes by now. */
static int rate_follow(struct planning *p, struct live_plan *now)
{
	double before = plan_live_rate(p->live);
	int code;

	now->probing_hz = fmax(knapsack_left(&p->limits, now->used), 0);
	if (!is_probed(p, now) || !drift_probe(before, now->probing_hz))
		return EXIT_FINE;
	code = plan_live_probe(p->live, now->probing_hz);
	/* it may be at a bound already */
	if (code == EXIT_FINE && plan_live_rate(p->live) != before)
		change_print(p, now, DRIFT_PROBE, now->used);
	return code;
}

/* Change to the best plan, if the one in effect must be changed. Returns EXIT_FINE, or the exit
 * code after a message. */
static int live_change(struct planning *p, struct drift *drift, struct live_plan *now,
		       struct live_plan *best)
{
	struct drift_look look = {.budget = p->budget,
				  .fresh = plan_live_is_fresh(p->live, &p->table),
				  .strayed = plan_live_has_strayed(p->live),
				  .none = best->none};
	enum drift_why why;
	int code = EXIT_FINE;

	plan_live_modes(p->live, &p->table, now->modes);
	live_value(p, now);
	live_value(p, best);
	look.used = now->used;
	/* a plan of before does not stay where all can be recorded */
	look.now = !p->reduce && plan_all_fit(p) && !is_whole(p, now) ? 0 : now->information;
	look.best = best->information;
	why = drift_step(drift, &look);
	if (why == DRIFT_STAYS)
		return rate_follow(p, now);
	code = plan_live_switch(p->live, &p->table, best->modes, best->probing_hz,
				(unsigned)(2 * p->duration_ns / 1000000) + LEASE_MS);
	if (code == EXIT_FINE)
		change_print(p, best, why, look.used);
	return code;
}

/* Look once at the plan in effect, by what was measured just now, and change it if it must be. */
static int live_step(struct planning *p, struct drift *drift)
{
	struct live_plan now = {.modes = memory_new(p->table.n, sizeof(*now.modes))};
	struct live_plan best = {.modes = memory_new(p->table.n, sizeof(*best.modes))};
	int code;

	best_find(p, &best);
	code = live_change(p, drift, &now, &best);
	free(now.modes);
	free(best.modes);
	if (code == EXIT_FINE)
		plan_live_tell(p->live, p->budget);
	return code;
}

static int live_apply(struct planning *p)
{
	struct drift drift = {0};
	int code, last;

	do
		code = live_step(p, &drift);
	while (code == EXIT_FINE && !stopped && (code = live_read(p)) == EXIT_FINE && !stopped);
	last = plan_live_end(p->live, p->keep && code == EXIT_FINE);
	return code == EXIT_FINE ? last : code;
}

int planning_live(struct planning *p)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
	int code;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	code = live_read(p);
	if (code == EXIT_FINE && !p->print_table)
		code = plan_weighs(p);
	if (code == EXIT_FINE && !p->print_table && !p->apply && !p->reduce)
		planning_count(p);
	if (code == EXIT_FINE)
		code = p->print_table ? print_table(p)
		       : p->apply     ? live_apply(p)
		       : p->reduce    ? plan_reduced(p)
				      : plan_probing(p);
	plan_live_free(p->live);
	return code;
}
