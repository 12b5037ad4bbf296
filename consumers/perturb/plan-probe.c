/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the heartbeat, and shares out what a look takes among the classes that it hits. */
#include "consumers/perturb/plan-probe.h"

#include <math.h>
#include <stdio.h>

#include "consumers/budget/levers.h"
#include "consumers/cli/command.h"
#include "tree/data/clock.h"

/* Waves that tell what a probe costs, and the time that an event takes if nothing tells. */
#define PROBES	      20u
#define EVENT_SECONDS 25e-9

/* Timed ones from which on a mean is believed. */
#define TIMED_LEAST 16u

double plan_half(double before, double now)
{
	return before > 0 ? (before + now) / 2 : now;
}

void plan_timed_take(struct plan_timed *timed, uint64_t n, double mean_ns)
{
	double ns = mean_ns * (double)n;

	if (!isfinite(ns) || n < timed->n + TIMED_LEAST)
		return;
	if (ns > timed->ns)
		timed->each =
			plan_half(timed->each, (ns - timed->ns) / (double)(n - timed->n) / 1e9);
	timed->n = n;
	timed->ns = ns;
}

/* So many hits of a slot (PLAN_SLOTS: of none) in a look that took @ns for each process. */
static void hits_add(struct plan_probe *p, unsigned slot, unsigned hits, double ns)
{
	p->n[slot] += hits;
	p->ns[slot] += hits * ns;
}

/* Whom did the look find in an operation? The first one had to open the tree. */
static void probe_take(struct plan_probe *p)
{
	const struct evspace_wave *w = evspace_wave(p->client);
	double ns = w->processes && w->number > 1 ? w->cpu_us * 1e3 / w->processes : 0;
	struct evspace_event event;
	unsigned found = 0;

	p->probes++;
	while (evspace_event(p->client, &event)) {
		int channel = op_channel(event.op_number);
		unsigned slot;

		if (!(event.flags & EVSPACE_RUNNING) || channel < 0 || channel >= CHANNEL_COUNT)
			continue;
		slot = 2 * (unsigned)channel + (evspace_is_world(p->client, event.comm) != 0);
		p->hits[slot]++;
		found++;
		if (ns > 0)
			hits_add(p, slot, 1, ns);
	}
	if (ns > 0 && w->processes > found)
		hits_add(p, PLAN_SLOTS, w->processes - found, ns);
}

/* Take looks until @enough or the time has passed. */
static int probe_look(struct plan_probe *p, uint64_t ns, uint64_t enough, const volatile int *stop)
{
	uint64_t until = clock_mono_ns() + ns, n = 0;
	int rc = 1;

	while (rc >= 0 && n < enough && clock_mono_ns() < until && !(stop && *stop)) {
		rc = evspace_next(p->client, 50);
		n += rc == 1;
		if (rc == 1)
			probe_take(p);
	}
	if (rc >= 0)
		return EXIT_FINE;
	fprintf(stderr, "evspace plan: %s\n", evspace_why(p->client));
	return EXIT_NO_CONNECTION;
}

/* Learn from the looks so far what an event and a look cost. */
static void costs_take(struct plan_probe *p)
{
	const struct evspace_wave *w = evspace_wave(p->client);
	struct evspace_counts counts;

	if (!w)
		return;
	evspace_counts(p->client, &counts);
	p->processes = w->processes;
	p->missing = (unsigned)w->n_missing;
	if (w->written > 0 && w->cost_ns > 0)
		p->t_report = (double)w->cost_ns / 1e9 / (double)w->written;
	if (counts.waves > 1 && counts.cpu_us > 0 && w->processes > 0)
		p->t_sampling =
			(double)counts.cpu_us / 1e6 / (double)counts.waves / (double)w->processes;
	for (unsigned i = 0; i <= PLAN_SLOTS; i++)
		if (p->n[i] > 0)
			plan_timed_take(i < PLAN_SLOTS ? &p->sampled[i] : &p->vain, p->n[i],
					p->ns[i] / (double)p->n[i]);
}

int plan_probe_open(struct plan_probe *p, struct common *common)
{
	int code = EXIT_FINE;

	*p = (struct plan_probe){
		.common = common, .t_report = EVENT_SECONDS, .t_sampling = EVENT_SECONDS};
	common->look.view = "heartbeat";
	common->look.define = NULL;
	common->look.rate_hz = PROBES;
	p->client = options_open("evspace plan", common, &code);
	if (p->client)
		code = probe_look(p, UINT64_C(3000000000), PROBES, NULL);
	if (p->client && code == EXIT_FINE)
		costs_take(p);
	return code;
}

void plan_probe_close(struct plan_probe *p)
{
	options_close(p->common, p->client);
}

void plan_probe_begin(struct plan_probe *p)
{
	p->probes = 0;
	for (unsigned i = 0; i < PLAN_SLOTS; i++)
		p->hits[i] = 0;
}

int plan_probe_for(struct plan_probe *p, uint64_t ns, const volatile int *stop)
{
	int code = probe_look(p, ns, UINT64_MAX, stop);

	if (code == EXIT_FINE)
		costs_take(p);
	return code;
}

static double rate_near(double hz)
{
	return fmin(fmax(hz, lever_rows[LEVER_RATE].least), lever_rows[LEVER_RATE].most);
}

void plan_probe_may(const struct plan_probe *p, double hz)
{
	const struct lever_row *may = &lever_rows[LEVER_RATE];
	double rate_hz = rate_near(hz);

	if (hz <= 0 || fabs(rate_hz - hz) <= hz / 5)
		return;
	fprintf(stderr,
		"evspace plan: the probe looks %g times a second, not %.3g as planned: it may from "
		"%g to %g",
		rate_hz, hz, may->least, may->most);
	if (rate_hz > hz)
		fprintf(stderr, ". That takes %.2g %%: a budget below it cannot be kept",
			100 * rate_hz * p->t_sampling);
	fputc('\n', stderr);
}

int plan_probe_rate(struct plan_probe *p, double hz)
{
	double rate_hz = rate_near(hz);
	int code = EXIT_FINE;

	if (fabs(rate_hz - p->common->look.rate_hz) < rate_hz / 5)
		return code;
	plan_probe_may(p, hz);
	p->common->look.rate_hz = rate_hz;
	options_close(p->common, p->client);
	p->client = options_open("evspace plan", p->common, &code);
	return code;
}
