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
	return code;
}

static int print_table(const struct planning *p)
{
	printf("# --t-report %.3g --t-sampling %.3g\nclass frequency weight duty t_trace minimum\n",
	       plan_live_t_report(p->live), plan_live_t_sampling(p->live));
	for (size_t i = 0; i < p->table.n; i++) {
		const struct event_class *c = &p->table.classes[i];

		printf("%s %.6g %g %.6g %.3g %g\n", p->table.names[i], c->frequency, c->weight,
		       c->duty, c->t_trace, c->minimum);
	}
	return EXIT_FINE;
}

static const char *const reasons[] = {
	[DRIFT_STAYS] = "",
	[DRIFT_FRESH] = "there are classes that it was not about",
	[DRIFT_STRAYED] = "modes were not as planned any more",
	[DRIFT_OVER] = "what is traced takes more than the budget",
	[DRIFT_BETTER] = "another plan tells more by now",
};

static void print_change(const struct planning *p, const struct probing_plan *plan,
			 enum drift_why why, double used)
{
	const struct evspace_spent *spent = plan_live_spent(p->live);
	char *traced, *sampled, share[UNIT_TEXT], cost[UNIT_TEXT], low[UNIT_TEXT], high[UNIT_TEXT];

	if (p->common.json) {
		json_print(json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "change",
				     "why", reasons[why], "traced",
				     plan_json_classes(p, plan->traced, true), "sampled",
				     plan_json_classes(p, plan->traced, false), "probing_hz",
				     json_figure(plan->probing_hz), "information",
				     json_figure(plan->information), "used", json_figure(used),
				     "slowdown", json_figure(spent ? spent->slowdown : NAN), "low",
				     json_figure(spent ? spent->low : NAN), "high",
				     json_figure(spent ? spent->high : NAN)),
			   stdout);
		fflush(stdout);
		return;
	}
	traced = plan_names(p, plan->traced, true);
	sampled = plan_names(p, plan->traced, false);
	printf("traced: %s; sampled: %s (tracing took %s; %s)\n", traced, sampled,
	       unit_share(share, used), reasons[why]);
	if (spent)
		printf("measured before: slowdown %s (%s to %s)\n",
		       unit_share(cost, spent->slowdown), unit_share(low, spent->low),
		       unit_share(high, spent->high));
	fflush(stdout);
	free(traced);
	free(sampled);
}

/* What is traced by the plan in effect: what it takes, and tells. */
static struct drift_look live_look(const struct planning *p, struct probing_plan *now)
{
	struct drift_look look = {.budget = p->budget,
				  .fresh = plan_live_is_fresh(p->live, &p->table),
				  .strayed = plan_live_has_strayed(p->live)};

	plan_live_traced(p->live, &p->table, now->traced);
	for (size_t i = 0; i < p->table.n; i++)
		look.used += now->traced[i]
				     ? p->table.classes[i].frequency * p->table.classes[i].t_trace
				     : 0;
	if (knapsack_value(p->table.classes, p->table.n, &p->limits, now))
		look.now = now->information;
	return look;
}

/* Look once at the plan in effect, by what was measured just now, and change it if it must be. */
static int live_step(struct planning *p, struct drift *drift)
{
	struct probing_plan *plans = knapsack_plans_new(2, p->table.n);
	struct drift_look look = live_look(p, &plans[1]);
	enum drift_why why;
	double bound;
	int code = EXIT_FINE;

	if (knapsack_probing(p->table.classes, p->table.n, &p->limits, plans, 1, &bound) == 0) {
		knapsack_plans_free(plans);
		return plan_end(EXIT_BAD_NEWS, "no plan keeps the budget: raise it");
	}
	look.best = plans[0].information;
	why = drift_step(drift, &look);
	if (why != DRIFT_STAYS) {
		code = plan_live_switch(p->live, &p->table, plans[0].traced, plans[0].probing_hz,
					(unsigned)(2 * p->duration_ns / 1000000) + LEASE_MS);
		if (code == EXIT_FINE)
			print_change(p, &plans[0], why, look.used);
	}
	knapsack_plans_free(plans);
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
	if (code == EXIT_FINE)
		code = p->print_table ? print_table(p) : p->apply ? live_apply(p) : plan_probing(p);
	plan_live_free(p->live);
	return code;
}
