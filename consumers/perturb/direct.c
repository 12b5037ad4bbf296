/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace perturb without an experiment: what collectors, agents, processors and links say. */
#include "consumers/perturb/direct.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/toll.h"
#include "consumers/perturb/critical-live.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"

#define WITHIN_NS (2 * UINT64_C(1000000000))

/* What the answers say. */
struct direct {
	bool json;
	char *run;
	struct critical_live_costs costs;
};

/* ---- JSON ---- */

static void costs_json(const struct evspace_costs *c)
{
	for (size_t i = 0; i < c->n_channels; i++)
		json_print(json_pack("{s:s,s:s,s:o,s:o,s:o,s:o,s:o}", "type", "channel", "channel",
				     c->channels[i].channel, "events",
				     json_count(c->channels[i].events), "timed",
				     json_count(c->channels[i].timed), "interrupted",
				     json_count(c->channels[i].cut), "event_ns",
				     json_figure(c->channels[i].event_ns), "error_ns",
				     json_figure(c->channels[i].error_ns)),
			   stdout);
	for (size_t i = 0; i < c->n_agents; i++)
		json_print(json_pack("{s:s,s:o,s:o,s:o}", "type", "agent", "agent",
				     json_text(c->agents[i].name), "missing",
				     json_text(c->agents[i].missing), "cpu_s",
				     json_figure(c->agents[i].missing ? -1 : c->agents[i].cpu_s)),
			   stdout);
	for (size_t i = 0; i < c->n_links; i++)
		json_print(json_pack("{s:s,s:o,s:o,s:o,s:o}", "type", "link", "agent",
				     json_text(c->links[i].agent), "peer",
				     json_text(c->links[i].peer), "sent",
				     json_count(c->links[i].sent), "received",
				     json_count(c->links[i].received)),
			   stdout);
	for (size_t i = 0; i < c->n_views; i++)
		json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "view", "agent",
				     json_text(c->views[i].agent), "consumer",
				     json_text(c->views[i].consumer), "view",
				     json_text(c->views[i].view), "run", json_text(c->views[i].run),
				     "bytes", json_count(c->views[i].bytes), "answers",
				     json_count(c->views[i].answers)),
			   stdout);
}

/* ---- text ---- */

static const char *figure(char buf[UNIT_TEXT], double ns)
{
	snprintf(buf, UNIT_TEXT, "-");
	if (isfinite(ns))
		snprintf(buf, UNIT_TEXT, "%.1f", ns);
	return buf;
}

static void print_channels(const struct evspace_costs *c)
{
	static const char *const heads[] = {"events", "recorded so far", "ns each", "from", "to",
					    "timed"};
	char text[UNIT_TEXT];
	struct table t;

	table_heads(&t, NULL, heads, 6);
	for (size_t i = 0; i < c->n_channels; i++) {
		const struct evspace_channel_cost *k = &c->channels[i];

		table_cell(&t, "%s", k->channel);
		table_cell(&t, "%s", unit_count(text, k->events));
		table_cell(&t, "%s", figure(text, k->event_ns));
		table_cell(&t, "%s", figure(text, k->event_ns - k->error_ns));
		table_cell(&t, "%s", figure(text, k->event_ns + k->error_ns));
		table_cell(&t, "%s", unit_count(text, k->timed));
	}
	table_print(&t, stdout);
	table_fini(&t);
}

static void print_links(const struct evspace_costs *c)
{
	char sent[UNIT_TEXT], received[UNIT_TEXT], cpu[UNIT_TEXT];

	for (size_t i = 0; i < c->n_agents; i++)
		table_say(stdout, "agent %s: %s%s", c->agents[i].name,
			  c->agents[i].missing
				  ? c->agents[i].missing
				  : unit_duration(cpu, (uint64_t)(c->agents[i].cpu_s * 1e9)),
			  c->agents[i].missing ? "" : " of processor time so far");
	for (size_t i = 0; i < c->n_links; i++)
		table_say(stdout, "link %s to %s: %s sent, %s received so far", c->links[i].agent,
			  c->links[i].peer, unit_bytes(sent, c->links[i].sent),
			  unit_bytes(received, c->links[i].received));
	for (size_t i = 0; i < c->n_views; i++)
		table_say(stdout, "view %s of %s for %s, from %s: %s in %llu answer%s",
			  c->views[i].view, c->views[i].run, c->views[i].consumer,
			  c->views[i].agent, unit_bytes(sent, c->views[i].bytes),
			  (unsigned long long)c->views[i].answers,
			  plural(c->views[i].answers, "s"));
}

static void costs_text(const struct evspace_costs *c)
{
	table_say(stdout, "run %s: %u process%s, %u thread%s", c->run, c->sums.processes,
		  plural(c->sums.processes, "es"), c->sums.threads, plural(c->sums.threads, "s"));
	print_channels(c);
	print_links(c);
}

static const char *share(char buf[UNIT_TEXT], double x)
{
	if (isfinite(x))
		return unit_share(buf, x);
	snprintf(buf, UNIT_TEXT, "an unknown part");
	return buf;
}

static void spent_text(const struct evspace_spent *s)
{
	char a[UNIT_TEXT], b[UNIT_TEXT], c[UNIT_TEXT], d[UNIT_TEXT];

	table_say(stdout,
		  "in %.1f s: %.0f events a second; collecting takes %s of the processes' time",
		  s->seconds, s->events_hz, share(a, s->collecting));
	table_say(stdout, "agents: %s of the processes' time; %s a second on all links",
		  share(a, s->looking), unit_bytes(b, (uint64_t)s->link_hz));
	table_say(
		stdout,
		"the program's threads: %.0f involuntary context switches a second; they wait for "
		"a processor for %s of its time",
		s->switches_hz, share(a, s->delayed));
	table_say(stdout, "slowdown about %s (%s to %s); evspace perturb --ab measures it",
		  share(b, s->slowdown), share(c, s->low), share(d, s->high));
}

/* ---- on the rank that arrives last ---- */

static void critical_json(const struct critical_share *s, const char *why)
{
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "critical", "share",
			     json_figure(s->estimate), "low", json_figure(s->low), "high",
			     json_figure(s->high), "delay", json_figure(s->delay), "collectives",
			     json_count(s->collectives), "told", json_count(s->told), "why",
			     json_text(why)),
		   stdout);
}

static void critical_text(const struct critical_share *s, const char *why)
{
	char a[UNIT_TEXT], b[UNIT_TEXT], c[UNIT_TEXT], d[UNIT_TEXT];

	if (why) {
		table_say(stdout,
			  "how much of the collectors' time delays all, as it was on the rank that "
			  "arrived last, cannot be told: %s",
			  why);
		return;
	}
	table_say(stdout,
		  "of the collectors' time %s (%s to %s) was on the rank that arrived last, and so "
		  "delays all: %s of the time, by %llu collectives",
		  unit_share(a, s->estimate), unit_share(b, s->low), unit_share(c, s->high),
		  unit_share(d, s->delay), (unsigned long long)s->collectives);
	if (s->told < s->collectives)
		table_say(stdout,
			  "which rank that was, clocks of hosts cannot tell in %llu of them",
			  (unsigned long long)(s->collectives - s->told));
}

static void costs_taken(const struct evspace_costs *c, void *arg)
{
	struct direct *d = arg;

	free(d->run);
	d->run = memory_copy(c->run);
	critical_live_costs(&d->costs, c);
	if (d->json)
		costs_json(c);
	else
		costs_text(c);
}

/* After all else: it reads all events, which is not to be in what looking costs. */
static void critical_print(const struct direct *d, const struct common *common, uint64_t ns)
{
	struct critical_share share;
	const char *why = critical_live_read(common, d->run, ns, &d->costs, &share);

	if (d->json)
		critical_json(&share, why);
	else
		critical_text(&share, why);
}

/* Returns the exit code. */
static int direct_measure(struct toll *toll, const struct common *common)
{
	uint64_t ns = common->duration_ns ? common->duration_ns : WITHIN_NS;
	const struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
	enum evspace_failure failure = toll_ask(toll, NULL, NULL);
	struct direct d = {.json = common->json};
	struct evspace_spent spent;
	int code = EXIT_FINE;

	if (failure != EVSPACE_FINE) {
		fprintf(stderr, "evspace perturb: %s\n", toll_why(toll));
		return options_failure(failure);
	}
	nanosleep(&time, NULL);
	if (toll_ask(toll, costs_taken, &d) != EVSPACE_FINE || toll_spent(toll, &spent) < 0) {
		fprintf(stderr, "evspace perturb: %s\n",
			toll_why(toll)[0] ? toll_why(toll)
					  : "no process of the program lives, so that no time has "
					    "passed for it");
		code = EXIT_BAD_NEWS;
	} else {
		if (common->json)
			toll_json(toll, &spent, NAN);
		else
			spent_text(&spent);
		critical_print(&d, common, ns);
	}
	free(d.run);
	return code;
}

int direct_run(const struct common *common)
{
	struct evspace_connection *connection = evspace_connect(&common->look);
	struct toll *toll = toll_new(connection, common->look.run);
	int code = direct_measure(toll, common);

	toll_free(toll);
	evspace_disconnect(connection);
	return code;
}
