/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures event classes by the difference of two looks at the program's counts, and probes what is
 * sampled meanwhile. */
#include "consumers/perturb/plan-live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "consumers/cli/command.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"
#include "tree/scope/classes.h"

/* A class is a channel on MPI_COMM_WORLD, or on all other communicators and none. */
#define SLOTS (2u * CHANNEL_COUNT)

/* Waves that tell what a probe costs, and the time that an event takes if nothing tells. */
#define PROBES	      20u
#define EVENT_SECONDS 25e-9

/* Timed events from which on a channel's mean is believed. */
#define TIMED_LEAST 16u

/* Waves a second, whatever the plan says. */
#define PROBE_LEAST_HZ 1.0
#define PROBE_MOST_HZ  1000.0

/* Counts of a class, and what is known of it. */
struct plan_slot {
	uint64_t calls, recorded, time_ns;
	enum evspace_mode mode; /* as it was switched; EVSPACE_AS_IT_IS: it was not */
	bool strayed;		/* somewhere it is in another one */
	double frequency, duty; /* frequency 0: not measured yet */
	uint64_t hits;		/* of probes, while it was measured */
};

/* What operations of a channel cost, by those that were timed. */
struct plan_timed {
	uint64_t n;  /* so far … */
	double ns;   /* … and their sum */
	double each; /* seconds; 0: not known yet */
};

struct plan_live {
	struct common common;
	struct evspace_connection *control;
	struct evspace_client *probe;
	const struct class_figures *weights, *minimums;
	struct evspace_lease lease; /* ms 0: none */
	struct plan_slot slots[SLOTS];
	uint64_t probes;
	unsigned processes;
	double t_report, t_sampling;
	struct plan_timed timed[CHANNEL_COUNT];	 /* that are events */
	struct plan_timed passed[CHANNEL_COUNT]; /* that are seen, and are none */
	struct evspace_cost_sums costs;		 /* at the last measurement */
	struct evspace_spent spent;		 /* since the one before; seconds 0: not known */
	bool quiet;				 /* what went wrong has been said */
	int code;
};

static int live_end(struct plan_live *live, enum exit_code code, const char *why)
{
	fprintf(stderr, "evspace plan: %s\n", why);
	return live->code = code;
}

static void slot_name(unsigned slot, char name[CLASS_TEXT])
{
	snprintf(name, CLASS_TEXT, "%s%s", channel_name(slot / 2), slot % 2 ? "@world" : "");
}

/* ---- what an event and a probe cost ---- */

/* Whom did the probe find in an operation? */
static void probe_take(struct plan_live *live)
{
	struct evspace_event event;

	live->probes++;
	while (evspace_event(live->probe, &event)) {
		int channel = op_channel(event.op_number);

		if (event.flags & EVSPACE_RUNNING && channel >= 0 && channel < (int)CHANNEL_COUNT)
			live->slots[2 * channel + (evspace_is_world(live->probe, event.comm) != 0)]
				.hits++;
	}
}

/* Take waves until @enough or the time has passed. Returns 0, or -1 when the connection is lost. */
static int probe_for(struct plan_live *live, uint64_t ns, uint64_t enough, const volatile int *stop)
{
	uint64_t until = clock_mono_ns() + ns, n = 0;
	int rc = 1;

	while (rc >= 0 && n < enough && clock_mono_ns() < until && !(stop && *stop)) {
		rc = evspace_next(live->probe, 50);
		n += rc == 1;
		if (rc == 1)
			probe_take(live);
	}
	return rc < 0 ? live_end(live, EXIT_NO_CONNECTION, evspace_why(live->probe)) : 0;
}

/* Learn from the waves so far what an event and a probe cost. */
static void costs_take(struct plan_live *live)
{
	const struct evspace_wave *w = evspace_wave(live->probe);
	struct evspace_counts counts;

	if (!w)
		return;
	evspace_counts(live->probe, &counts);
	live->processes = w->processes;
	if (w->written > 0 && w->cost_ns > 0)
		live->t_report = (double)w->cost_ns / 1e9 / (double)w->written;
	if (counts.waves > 1 && counts.cpu_us > 0 && w->processes > 0)
		live->t_sampling =
			(double)counts.cpu_us / 1e6 / (double)counts.waves / (double)w->processes;
}

void class_figures_fini(struct class_figures *figures)
{
	for (size_t i = 0; i < figures->n; i++)
		free(figures->of[i].name);
}

struct plan_live *plan_live_new(const struct common *common, const struct class_figures *weights,
				const struct class_figures *minimums, int *code)
{
	struct plan_live *live = memory_new(1, sizeof(*live));

	live->common = *common;
	live->common.look.view = "heartbeat";
	live->common.look.define = NULL;
	live->common.look.rate_hz = PROBES;
	live->weights = weights;
	live->minimums = minimums;
	live->t_report = live->t_sampling = EVENT_SECONDS;
	for (unsigned i = 0; i < SLOTS; i++)
		live->slots[i].mode = EVSPACE_AS_IT_IS;
	while (!live->lease.id)
		if (getrandom(&live->lease.id, sizeof(live->lease.id), 0) < 0)
			live->lease.id = clock_mono_ns();
	live->probe = options_open("evspace plan", &live->common, &live->code);
	if (live->probe && probe_for(live, UINT64_C(3000000000), PROBES, NULL) == 0) {
		costs_take(live);
		live->control = evspace_connect(&live->common.look);
		if (live->processes == 0)
			live_end(live, EXIT_BAD_NEWS, "there is no live program to measure");
	}
	*code = live->code;
	return live;
}

void plan_live_free(struct plan_live *live)
{
	if (!live)
		return;
	evspace_disconnect(live->control);
	options_close(&live->common, live->probe);
	free(live);
}

double plan_live_t_report(const struct plan_live *live)
{
	return live->t_report;
}

double plan_live_t_sampling(const struct plan_live *live)
{
	return live->t_sampling;
}

/* ---- asking ---- */

static void slot_forget(struct plan_slot *slot)
{
	slot->calls = slot->recorded = slot->time_ns = 0;
	slot->strayed = false;
}

static void live_answered(const struct evspace_reply *reply, void *arg)
{
	struct plan_live *live = arg;

	if (!options_answered("evspace plan", reply, &live->code))
		return;
	for (unsigned i = 0; i < SLOTS; i++)
		slot_forget(&live->slots[i]);
	for (size_t i = 0; i < reply->switched->n_hosts; i++) {
		const struct evspace_host_reply *h = &reply->switched->hosts[i];

		if ((!h->missing && !h->text[0]) || live->quiet)
			continue;
		fprintf(stderr, "evspace plan: %s: %s\n", h->name,
			h->text[0] ? h->text : h->missing);
		live->code = EXIT_BAD_NEWS;
	}
	for (size_t i = 0; i < reply->switched->n_classes; i++) {
		const struct evspace_collected *c = &reply->switched->classes[i];
		int channel = channel_find(c->channel);
		struct plan_slot *slot;

		if (channel < 0 || channel >= CHANNEL_COUNT)
			continue;
		slot = &live->slots[2 * channel + (c->world != 0)];
		slot->calls += c->calls;
		slot->recorded += c->calls > c->skipped ? c->calls - c->skipped : 0;
		slot->time_ns += c->time_ns;
		slot->strayed |= slot->mode != EVSPACE_AS_IT_IS && c->mode != slot->mode;
	}
}

/* Ask for the counts, with @n orders. Returns EXIT_FINE, or the exit code after a message. */
static int live_ask(struct plan_live *live, const struct evspace_order *orders, size_t n)
{
	struct evspace_among among = options_among(&live->common.look);
	const struct evspace_lease *lease = live->lease.ms || n ? &live->lease : NULL;

	among.view = NULL;
	if (lease)
		evspace_switch_all(live->control, &among, orders, n, lease, live_answered, live);
	else
		evspace_switch(live->control, &among, NULL, 0, EVSPACE_AS_IT_IS, live_answered,
			       live);
	(void)evspace_wait(live->control, -1);
	return live->code;
}

/* ---- measuring ---- */

static double half(double before, double now)
{
	return before > 0 ? (before + now) / 2 : now;
}

/* What has been timed since the last look counts half. */
static void timed_take(struct plan_timed *timed, uint64_t n, double mean_ns)
{
	double ns = mean_ns * (double)n;

	if (!isfinite(ns) || n < timed->n + TIMED_LEAST)
		return;
	if (ns > timed->ns)
		timed->each = half(timed->each, (ns - timed->ns) / (double)(n - timed->n) / 1e9);
	timed->n = n;
	timed->ns = ns;
}

static void cost_answered(const struct evspace_reply *reply, void *arg)
{
	struct plan_live *live = arg;
	const struct evspace_costs *costs = reply->costs;
	const struct evspace_cost_sums *last = &live->costs;

	/* of agents that do not say, all is known from the waves */
	for (size_t i = 0; costs && i < costs->n_channels; i++) {
		const struct evspace_channel_cost *c = &costs->channels[i];
		int channel = channel_find(c->channel);

		if (channel < 0 || channel >= CHANNEL_COUNT)
			continue;
		timed_take(&live->timed[channel], c->timed, c->event_ns);
		timed_take(&live->passed[channel], c->passed, c->passed_ns);
	}
	if (!costs || !last->taken_ns ||
	    evspace_cost_between(last, &costs->sums, costs->sums.agents_s - last->agents_s,
				 &live->spent))
		live->spent.seconds = 0;
	live->costs = costs ? costs->sums : (struct evspace_cost_sums){0};
}

/* Ask what events of each channel have cost so far. */
static void live_ask_costs(struct plan_live *live)
{
	struct evspace_among among = options_among(&live->common.look);

	among.view = NULL;
	evspace_cost(live->control, &among, cost_answered, live);
	(void)evspace_wait(live->control, -1);
}

/* What has happened since @before, in @seconds of all processes, which were probed so often. */
static void slot_measure(struct plan_slot *slot, const struct plan_slot *before, double seconds,
			 double probed)
{
	double calls = slot->calls > before->calls ? (double)(slot->calls - before->calls) : 0;
	double recorded =
		slot->recorded > before->recorded ? (double)(slot->recorded - before->recorded) : 0;
	double ns = slot->time_ns > before->time_ns ? (double)(slot->time_ns - before->time_ns) : 0;

	/* the times are those of the recorded ones; what is only counted no probe sees */
	if (recorded > 0 && ns > 0)
		slot->duty = fmin(half(slot->duty, ns / 1e9 * calls / recorded / seconds), 1);
	else if (calls > 0 && probed > 0 && slot->mode != EVSPACE_COUNT)
		slot->duty = fmin(half(slot->duty, (double)slot->hits / probed), 1);
	slot->frequency = calls > 0 ? half(slot->frequency, calls / seconds) : slot->frequency / 2;
	if (slot->frequency < 1e-3)
		slot->frequency = 0;
}

static double figure_of(const struct class_figures *figures, const char *name, double otherwise)
{
	for (size_t i = 0; i < figures->n; i++)
		if (strcmp(figures->of[i].name, name) == 0)
			return figures->of[i].number;
	return otherwise;
}

static void table_make(const struct plan_live *live, struct plan_table *table)
{
	char name[CLASS_TEXT];

	plan_table_fini(table);
	*table = (struct plan_table){
		.classes = memory_new(SLOTS, sizeof(*table->classes)),
		.names = memory_new(SLOTS, sizeof(*table->names)),
		.said_times = true,
	};
	for (unsigned i = 0; i < SLOTS; i++) {
		const struct plan_slot *slot = &live->slots[i];
		double t_trace = live->timed[i / 2].each;

		if (slot->frequency <= 0)
			continue;
		slot_name(i, name);
		table->classes[table->n] = (struct event_class){
			.frequency = slot->frequency,
			.weight = figure_of(live->weights, name, 1),
			.duty = slot->duty,
			.t_trace = t_trace > 0 ? t_trace : live->t_report,
			.minimum = figure_of(live->minimums, name, 0),
			.t_detect = live->passed[i / 2].each,
		};
		table->names[table->n++] = memory_copy(name);
	}
}

int plan_live_measure(struct plan_live *live, uint64_t ns, const volatile int *stop,
		      struct plan_table *table)
{
	struct plan_slot before[SLOTS];
	uint64_t since;
	double seconds;

	if (live_ask(live, NULL, 0) != EXIT_FINE)
		return live->code;
	if (!live->costs.taken_ns)
		live_ask_costs(live);
	for (unsigned i = 0; i < SLOTS; i++)
		live->slots[i].hits = 0;
	live->probes = 0;
	memcpy(before, live->slots, sizeof(before));
	since = clock_mono_ns();
	if (probe_for(live, ns, UINT64_MAX, stop) < 0 || live_ask(live, NULL, 0) != EXIT_FINE)
		return live->code;
	seconds = (double)(clock_mono_ns() - since) / 1e9;
	costs_take(live);
	live_ask_costs(live);
	if (live->processes == 0)
		return live_end(live, EXIT_BAD_NEWS, "the program has ended");
	for (unsigned i = 0; i < SLOTS; i++)
		slot_measure(&live->slots[i], &before[i], seconds * live->processes,
			     (double)live->probes * live->processes);
	table_make(live, table);
	/* while a plan is in effect, the program may be silent for some time */
	if (table->n == 0 && !live->lease.ms)
		return live_end(live, EXIT_BAD_NEWS,
				"the program makes no calls that are counted: measure longer "
				"(--duration), or switch classes on (evspace collect count)");
	return EXIT_FINE;
}

/* ---- switching ---- */

static unsigned slot_of(const char *name)
{
	char its[CLASS_TEXT];

	for (unsigned i = 0; i < SLOTS; i++) {
		slot_name(i, its);
		if (strcmp(its, name) == 0)
			return i;
	}
	return 0;
}

bool plan_live_is_fresh(const struct plan_live *live, const struct plan_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (live->slots[slot_of(table->names[i])].mode == EVSPACE_AS_IT_IS)
			return true;
	return false;
}

bool plan_live_has_strayed(const struct plan_live *live)
{
	for (unsigned i = 0; i < SLOTS; i++)
		if (live->slots[i].strayed)
			return true;
	return false;
}

void plan_live_modes(const struct plan_live *live, const struct plan_table *table,
		     enum evspace_mode *modes)
{
	for (size_t i = 0; i < table->n; i++)
		modes[i] = live->slots[slot_of(table->names[i])].mode;
}

/* Probe so often from now on. */
static int probe_again(struct plan_live *live, double hz)
{
	hz = fmin(fmax(hz, PROBE_LEAST_HZ), PROBE_MOST_HZ);
	if (fabs(hz - live->common.look.rate_hz) < hz / 5)
		return EXIT_FINE;
	live->common.look.rate_hz = hz;
	options_close(&live->common, live->probe);
	live->probe = options_open("evspace plan", &live->common, &live->code);
	return live->code;
}

int plan_live_switch(struct plan_live *live, const struct plan_table *table,
		     const enum evspace_mode *modes, double probing_hz, unsigned lease_ms)
{
	struct evspace_order orders[SLOTS];

	/* in the order of slots: a channel's other communicators before the world, which they
	 * include */
	for (size_t i = 0; i < table->n; i++) {
		orders[i].classes = table->names[i];
		orders[i].mode = modes[i];
	}
	live->lease.ms = lease_ms;
	if (live_ask(live, orders, table->n) != EXIT_FINE)
		return live->code;
	for (size_t i = 0; i < table->n; i++)
		live->slots[slot_of(table->names[i])].mode = orders[i].mode;
	return probe_again(live, probing_hz);
}

const struct evspace_spent *plan_live_spent(const struct plan_live *live)
{
	return live->spent.seconds > 0 ? &live->spent : NULL;
}

static void told_answered(const struct evspace_reply *reply, void *arg)
{
	/* whose agents do not know it is not told */
	(void)reply;
	(void)arg;
}

void plan_live_tell(struct plan_live *live, double budget)
{
	struct evspace_among among = options_among(&live->common.look);
	const struct evspace_spent *spent = plan_live_spent(live);
	const struct evspace_tale tale = {
		.budget = budget,
		.slowdown = spent ? spent->slowdown : NAN,
		.low = spent ? spent->low : NAN,
		.high = spent ? spent->high : NAN,
		.rate_hz = live->common.look.rate_hz,
		.for_ms = live->lease.ms,
	};

	among.view = NULL;
	evspace_tell(live->control, &among, &tale, told_answered, NULL);
	(void)evspace_wait(live->control, -1);
}

int plan_live_end(struct plan_live *live, bool keep)
{
	struct evspace_among among = options_among(&live->common.look);

	if (!live->lease.ms)
		return EXIT_FINE;
	among.view = NULL;
	live->quiet = live->code != EXIT_FINE;
	live->code = EXIT_FINE;
	live->lease.ms = 0;
	live->lease.keep = keep;
	evspace_switch_all(live->control, &among, NULL, 0, &live->lease, live_answered, live);
	(void)evspace_wait(live->control, -1);
	return live->code;
}
