/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures event classes by the difference of two looks at the program's counts, while a probe sees
 * what is sampled. Hosts that are late are left out until they answer again. */
#include "consumers/perturb/plan-live.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "consumers/cli/command.h"
#include "consumers/perturb/plan-probe.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"
#include "tree/data/op.h"
#include "tree/scope/classes.h"

/* Counts of a class, and what is known of it. */
struct plan_slot {
	uint64_t calls, recorded, time_ns;
	enum evspace_mode mode; /* as it was switched; EVSPACE_AS_IT_IS: it was not */
	bool strayed;		/* somewhere it is in another one */
	double frequency, duty; /* frequency 0: not measured yet */
};

/* Room for the names of hosts that are late. */
#define LATE_TEXT 512u

struct plan_live {
	struct common common;
	struct evspace_connection *control;
	struct plan_probe probe;
	const struct class_figures *weights, *minimums;
	struct evspace_lease lease; /* ms 0: none */
	struct plan_slot slots[PLAN_SLOTS];
	char late[LATE_TEXT];			 /* hosts that did not answer last time … */
	unsigned answered;			 /* … and processes of those that did */
	struct plan_timed timed[CHANNEL_COUNT];	 /* that are events */
	struct plan_timed passed[CHANNEL_COUNT]; /* that are seen, and are none */
	struct evspace_cost_sums costs;		 /* at the last measurement */
	struct evspace_spent spent;		 /* since the one before; seconds 0: not known */
	bool quiet, ending;			 /* quiet: what went wrong has been said */
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
	live->weights = weights;
	live->minimums = minimums;
	for (unsigned i = 0; i < PLAN_SLOTS; i++)
		live->slots[i].mode = EVSPACE_AS_IT_IS;
	while (!live->lease.id)
		if (getrandom(&live->lease.id, sizeof(live->lease.id), 0) < 0)
			live->lease.id = clock_mono_ns();
	live->code = plan_probe_open(&live->probe, &live->common);
	if (live->code == EXIT_FINE) {
		live->control = evspace_connect(&live->common.look);
		if (live->probe.processes == 0)
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
	plan_probe_close(&live->probe);
	free(live);
}

double plan_live_t_report(const struct plan_live *live)
{
	return live->probe.t_report;
}

double plan_live_t_sampling(const struct plan_live *live)
{
	return live->probe.t_sampling;
}

double plan_live_t_vain(const struct plan_live *live)
{
	return live->probe.vain.each > 0 ? live->probe.vain.each : live->probe.t_sampling;
}

void plan_live_may(const struct plan_live *live, double hz)
{
	plan_probe_may(&live->probe, hz);
}

/* ---- asking ---- */

static void slot_forget(struct plan_slot *slot)
{
	slot->calls = slot->recorded = slot->time_ns = 0;
	slot->strayed = false;
}

/* Who is late is left out, and said once; who cannot do it ends it. */
static void hosts_take(struct plan_live *live, const struct evspace_switched *switched)
{
	char late[LATE_TEXT] = "";
	size_t used = 0;

	live->answered = 0;
	for (size_t i = 0; i < switched->n_hosts; i++) {
		const struct evspace_host_reply *h = &switched->hosts[i];

		live->answered += h->missing ? 0 : h->processes;
		if (h->missing && used < sizeof(late))
			used += (size_t)snprintf(late + used, sizeof(late) - used, "%s%s (%s)",
						 used ? ", " : "", h->name, h->missing);
		if (h->missing || !h->text[0] || live->quiet)
			continue;
		fprintf(stderr, "evspace plan: %s: %s\n", h->name, h->text);
		live->code = EXIT_BAD_NEWS;
	}
	if (live->ending ? late[0] != '\0' : strcmp(late, live->late) != 0)
		fprintf(stderr, "evspace plan: %s%s\n",
			!late[0]       ? "all hosts answer again"
			: live->ending ? "modes are put back when leases are over on "
				       : "goes on without ",
			late);
	memcpy(live->late, late, sizeof(late));
}

static void live_answered(const struct evspace_reply *reply, void *arg)
{
	struct plan_live *live = arg;

	if (!options_answered("evspace plan", reply, &live->code))
		return;
	for (unsigned i = 0; i < PLAN_SLOTS; i++)
		slot_forget(&live->slots[i]);
	hosts_take(live, reply->switched);
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
		plan_timed_take(&live->timed[channel], c->timed, c->event_ns);
		plan_timed_take(&live->passed[channel], c->passed, c->passed_ns);
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

/* What has happened since @before, in @seconds of all processes, of which probes hit that @share.
 */
static void slot_measure(struct plan_slot *slot, const struct plan_slot *before, double seconds,
			 double share)
{
	double calls = slot->calls > before->calls ? (double)(slot->calls - before->calls) : 0;
	double recorded =
		slot->recorded > before->recorded ? (double)(slot->recorded - before->recorded) : 0;
	double ns = slot->time_ns > before->time_ns ? (double)(slot->time_ns - before->time_ns) : 0;

	/* the times are those of the recorded ones; what is only counted no probe sees */
	if (recorded > 0 && ns > 0)
		slot->duty = fmin(plan_half(slot->duty, ns / 1e9 * calls / recorded / seconds), 1);
	else if (calls > 0 && share >= 0 && slot->mode != EVSPACE_COUNT)
		slot->duty = fmin(plan_half(slot->duty, share), 1);
	slot->frequency =
		calls > 0 ? plan_half(slot->frequency, calls / seconds) : slot->frequency / 2;
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
		.classes = memory_new(PLAN_SLOTS, sizeof(*table->classes)),
		.names = memory_new(PLAN_SLOTS, sizeof(*table->names)),
		.said_times = true,
	};
	for (unsigned i = 0; i < PLAN_SLOTS; i++) {
		const struct plan_slot *slot = &live->slots[i];
		double t_trace = live->timed[i / 2].each;

		if (slot->frequency <= 0)
			continue;
		slot_name(i, name);
		table->classes[table->n] = (struct event_class){
			.frequency = slot->frequency,
			.weight = figure_of(live->weights, name, 1),
			.duty = slot->duty,
			.t_trace = t_trace > 0 ? t_trace : live->probe.t_report,
			.minimum = figure_of(live->minimums, name, 0),
			.t_detect = live->passed[i / 2].each,
			.t_sampling = live->probe.sampled[i].each,
		};
		table->names[table->n++] = memory_copy(name);
	}
}

/* Measure the classes of the hosts that have answered before and after. */
static void slots_measure(struct plan_live *live, const struct plan_slot *before, double seconds)
{
	/* who is late has no part in counts, and with all hosts looks are the better count */
	double processes = live->late[0] ? live->answered : live->probe.processes;
	double probed = (double)live->probe.probes * processes;

	for (unsigned i = 0; i < PLAN_SLOTS; i++)
		slot_measure(&live->slots[i], &before[i], seconds * processes,
			     probed > 0 ? (double)live->probe.hits[i] / probed : -1);
}

int plan_live_measure(struct plan_live *live, uint64_t ns, const volatile int *stop,
		      struct plan_table *table)
{
	struct plan_slot before[PLAN_SLOTS];
	char late[LATE_TEXT];
	uint64_t since;
	double seconds;

	if (live_ask(live, NULL, 0) != EXIT_FINE)
		return live->code;
	if (!live->costs.taken_ns)
		live_ask_costs(live);
	plan_probe_begin(&live->probe);
	memcpy(before, live->slots, sizeof(before));
	memcpy(late, live->late, sizeof(late));
	since = clock_mono_ns();
	live->code = plan_probe_for(&live->probe, ns, stop);
	if (live->code != EXIT_FINE || live_ask(live, NULL, 0) != EXIT_FINE)
		return live->code;
	seconds = (double)(clock_mono_ns() - since) / 1e9;
	live_ask_costs(live);
	if (live->probe.processes == 0 && live->probe.missing == 0)
		return live_end(live, EXIT_BAD_NEWS, "the program has ended");
	/* else what was known stays */
	if (strcmp(late, live->late) == 0 && live->answered > 0)
		slots_measure(live, before, seconds);
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

	for (unsigned i = 0; i < PLAN_SLOTS; i++) {
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
	for (unsigned i = 0; i < PLAN_SLOTS; i++)
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

int plan_live_switch(struct plan_live *live, const struct plan_table *table,
		     const enum evspace_mode *modes, double probing_hz, unsigned lease_ms)
{
	struct evspace_order orders[PLAN_SLOTS];

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
	return live->code = plan_probe_rate(&live->probe, probing_hz);
}

double plan_live_rate(const struct plan_live *live)
{
	return live->common.look.rate_hz;
}

int plan_live_probe(struct plan_live *live, double hz)
{
	return live->code = plan_probe_rate(&live->probe, hz);
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
	live->ending = true;
	live->quiet = live->code != EXIT_FINE;
	live->code = EXIT_FINE;
	live->lease.ms = 0;
	live->lease.keep = keep;
	evspace_switch_all(live->control, &among, NULL, 0, &live->lease, live_answered, live);
	(void)evspace_wait(live->control, -1);
	return live->code;
}
