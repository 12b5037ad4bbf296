/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks what a run costs, twice or more, and says in a line what the time between has cost. */
#include "consumers/cli/toll.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

#define AFTER_NS    UINT64_C(1000000000)
#define DEADLINE_MS 500u

/* The CPU time of an agent in the first answer and in the last. */
struct toll_agent {
	char *name;
	double first_s, last_s;
};

struct toll {
	const struct evspace_options *look;
	struct evspace_connection *connection;
	uint64_t begun_ns;
	unsigned answers;
	struct evspace_cost_sums first, last;
	struct toll_agent *agents;
	size_t n_agents;
	void (*show)(const struct evspace_costs *costs, void *arg);
	void *arg;
	char why[512];
};

struct toll *toll_new(const struct evspace_options *look)
{
	struct toll *t = memory_new(1, sizeof(*t));

	t->look = look;
	return t;
}

void toll_free(struct toll *t)
{
	if (!t)
		return;
	evspace_disconnect(t->connection);
	for (size_t i = 0; i < t->n_agents; i++)
		free(t->agents[i].name);
	free(t->agents);
	free(t);
}

static struct toll_agent *agent_of(struct toll *t, const struct evspace_agent_cost *said)
{
	for (size_t i = 0; i < t->n_agents; i++)
		if (strcmp(t->agents[i].name, said->name) == 0)
			return &t->agents[i];
	t->agents = memory_room(t->agents, t->n_agents, sizeof(*t->agents));
	t->agents[t->n_agents] =
		(struct toll_agent){memory_format("%s", said->name), said->cpu_s, said->cpu_s};
	return &t->agents[t->n_agents++];
}

static void toll_answered(const struct evspace_reply *reply, void *arg)
{
	const struct evspace_costs *costs = reply->costs;
	struct toll *t = arg;

	snprintf(t->why, sizeof(t->why), "%s", reply->why);
	if (!costs)
		return;
	for (size_t i = 0; i < costs->n_agents; i++) {
		struct toll_agent *a;

		if (costs->agents[i].missing)
			continue;
		a = agent_of(t, &costs->agents[i]);
		a->last_s = costs->agents[i].cpu_s;
		/* it has begun anew */
		if (a->last_s < a->first_s)
			a->first_s = a->last_s;
	}
	t->last = costs->sums;
	if (t->answers++ == 0)
		t->first = costs->sums;
	if (t->show)
		t->show(costs, t->arg);
}

int toll_ask(struct toll *t, void (*show)(const struct evspace_costs *costs, void *arg), void *arg)
{
	const struct evspace_among among = {.run = t->look->run, .deadline_ms = DEADLINE_MS};
	unsigned before = t->answers;

	if (!t->connection)
		t->connection = evspace_connect(t->look);
	t->show = show;
	t->arg = arg;
	(void)evspace_cost(t->connection, &among, toll_answered, t);
	(void)evspace_wait(t->connection, -1);
	return t->answers > before ? 0 : -1;
}

const char *toll_why(const struct toll *t)
{
	return t->why;
}

void toll_step(struct toll *t)
{
	uint64_t now = clock_mono_ns();

	if (!t || t->answers > 0 || t->why[0])
		return;
	if (!t->begun_ns)
		t->begun_ns = now;
	else if (now - t->begun_ns >= AFTER_NS)
		(void)toll_ask(t, NULL, NULL);
}

int toll_spent(const struct toll *t, struct evspace_spent *spent)
{
	double busiest = 0;

	for (size_t i = 0; i < t->n_agents; i++)
		busiest = fmax(busiest, t->agents[i].last_s - t->agents[i].first_s);
	return t->answers < 2 ? -1 : evspace_cost_between(&t->first, &t->last, busiest, spent);
}

void toll_json(const struct evspace_spent *spent, double rate)
{
	json_print(json_pack("{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "cost",
			     "rate_hz", json_figure(rate), "slowdown", json_figure(spent->slowdown),
			     "low", json_figure(spent->low), "high", json_figure(spent->high),
			     "collecting", json_figure(spent->collecting), "looking",
			     json_figure(spent->looking), "waiting_for_processors",
			     json_figure(spent->delayed), "involuntary_switches_per_s",
			     json_figure(spent->switches_hz), "link_bytes_per_s",
			     json_figure(spent->link_hz), "seconds", json_figure(spent->seconds)),
		   stdout);
}

static void spent_text(const struct evspace_spent *spent, double rate, FILE *out)
{
	char about[UNIT_TEXT], low[UNIT_TEXT], high[UNIT_TEXT];

	if (isfinite(spent->slowdown))
		table_say(
			out,
			"%.1f looks a second; slowdown about %s (%s to %s) by what collectors and "
			"agents use; evspace perturb --ab measures it",
			rate, unit_share(about, spent->slowdown), unit_share(low, spent->low),
			unit_share(high, spent->high));
	else
		table_say(
			out,
			"%.1f looks a second, for which agents use %s of the program's time; what "
			"collecting costs is not known: of so few events none was timed",
			rate, unit_share(about, spent->looking));
}

void toll_say(struct toll *t, uint64_t waves, bool json, FILE *out)
{
	struct evspace_spent spent;
	double rate;

	if (!t || t->answers == 0 || clock_mono_ns() - (uint64_t)t->first.taken_ns < AFTER_NS ||
	    toll_ask(t, NULL, NULL) < 0 || toll_spent(t, &spent) < 0)
		return;
	rate = (double)waves * 1e9 / (double)(clock_mono_ns() - t->begun_ns);
	if (json)
		toll_json(&spent, rate);
	else
		spent_text(&spent, rate, out);
}
