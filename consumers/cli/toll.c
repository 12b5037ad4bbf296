/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks what a run costs, again and again, and says in a line what the time between has cost. */
#include "consumers/cli/toll.h"

#include <event2/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/json.h"
#include "consumers/cli/status-line.h"
#include "consumers/cli/words.h"
#include "consumers/client/client.h"
#include "consumers/client/connection.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/table.h"
#include "tree/data/clock.h"

#define SECOND	    UINT64_C(1000000000)
#define DEADLINE_MS 500u

/* It asks first after so long, so that short looks cost nothing more; then on a terminal soon, and
 * so often, else so often. */
#define AFTER_NS    SECOND
#define SOON_NS	    (2 * SECOND)
#define TERMINAL_NS (5 * SECOND)
#define ELSE_NS	    (10 * SECOND)

/* Where it is said seldom. */
#define SELDOM_NS (600 * SECOND)

/* At the end it waits for an answer so long; else as long as a question lasts. */
#define END_MS 3000
#define ASK_MS 60000

/* The answers that are compared. */
enum answer { FIRST, BEFORE, LAST, ANSWERS };

/* The CPU time of an agent in each. */
struct toll_agent {
	char *name;
	double cpu_s[ANSWERS];
};

struct toll {
	struct evspace_connection *connection;
	const char *run;
	struct evspace_client *client;	     /* NULL: nothing is looked at */
	const struct evspace_client *beside; /* the other one; NULL: there is none */
	const char *command;
	bool json, fresh; /* fresh: the last answer is not said */
	bool seldom;	  /* it is said to be; and when again: */
	uint64_t say_ns;
	uint64_t looks;	     /* without a client */
	struct event *timer; /* it asks by itself; NULL: only when it is told to */
	struct evspace_question *question;
	enum evspace_failure failure; /* of the last one */
	unsigned answers;
	struct evspace_cost_sums sums[ANSWERS];
	uint64_t waves[ANSWERS];
	struct toll_agent *agents;
	size_t n_agents;
	void (*show)(const struct evspace_costs *costs, void *arg);
	void *arg;
	char why[512], line[WORDS_TEXT];
};

struct toll *toll_new(struct evspace_connection *connection, const char *run)
{
	struct toll *t = memory_new(1, sizeof(*t));

	t->connection = connection;
	t->run = run;
	return t;
}

void toll_look(struct toll *t)
{
	t->looks++;
}

void toll_free(struct toll *t)
{
	if (!t)
		return;
	evspace_cancel(t->question);
	if (t->timer)
		event_free(t->timer);
	for (size_t i = 0; i < t->n_agents; i++)
		free(t->agents[i].name);
	free(t->agents);
	free(t);
}

/* ---- asking ---- */

static void toll_after(struct toll *t, uint64_t ns)
{
	const struct timeval after = {(time_t)(ns / SECOND), 0};

	evtimer_add(t->timer, &after);
}

static struct toll_agent *agent_of(struct toll *t, const struct evspace_agent_cost *said)
{
	struct toll_agent *a;

	for (size_t i = 0; i < t->n_agents; i++)
		if (strcmp(t->agents[i].name, said->name) == 0)
			return &t->agents[i];
	t->agents = memory_room(t->agents, t->n_agents, sizeof(*t->agents));
	a = &t->agents[t->n_agents++];
	a->name = memory_format("%s", said->name);
	for (unsigned i = 0; i < ANSWERS; i++)
		a->cpu_s[i] = said->cpu_s;
	return a;
}

static void agent_take(struct toll *t, const struct evspace_agent_cost *said)
{
	struct toll_agent *a = agent_of(t, said);

	a->cpu_s[BEFORE] = a->cpu_s[LAST];
	a->cpu_s[LAST] = said->cpu_s;
	/* less than before: it has begun anew */
	for (unsigned i = 0; i < LAST; i++)
		if (t->answers == 0 || a->cpu_s[i] > said->cpu_s)
			a->cpu_s[i] = said->cpu_s;
}

static uint64_t waves_of(const struct toll *t)
{
	struct evspace_counts counts = {.waves = t->looks};

	if (t->client)
		evspace_counts(t->client, &counts);
	return counts.waves;
}

static void toll_answered(const struct evspace_reply *reply, void *arg)
{
	const struct evspace_costs *costs = reply->costs;
	struct toll *t = arg;

	t->question = NULL;
	snprintf(t->why, sizeof(t->why), "%s", reply->why);
	t->failure = reply->failure;
	/* it has not begun yet */
	if (t->failure == EVSPACE_NO_RUN && t->answers == 0 && t->timer)
		toll_after(t, AFTER_NS);
	if (!costs)
		return;
	if (t->answers > 0 && costs->sums.agents != t->sums[LAST].agents) {
		snprintf(t->why, sizeof(t->why), "agents have come or gone meanwhile");
		t->answers = 0;
	}
	for (size_t i = 0; i < costs->n_agents; i++)
		if (!costs->agents[i].missing)
			agent_take(t, &costs->agents[i]);
	t->sums[BEFORE] = t->sums[LAST];
	t->waves[BEFORE] = t->waves[LAST];
	t->sums[LAST] = costs->sums;
	t->waves[LAST] = waves_of(t);
	if (t->answers++ == 0) {
		t->sums[FIRST] = t->sums[LAST];
		t->waves[FIRST] = t->waves[LAST];
	}
	t->fresh = true;
	if (t->show)
		t->show(costs, t->arg);
}

static void toll_begin(struct toll *t)
{
	struct evspace_among among = {.run = t->run, .deadline_ms = DEADLINE_MS};

	/* also before it is there */
	if (t->client && t->client->run[0])
		among.run = t->client->run;
	t->question = evspace_cost(t->connection, &among, toll_answered, t);
}

/* Is there a line of the terminal for it? */
static bool has_line(const struct toll *t)
{
	return status_line_is_possible() && !t->seldom;
}

static uint64_t period_of(const struct toll *t)
{
	if (t->json || !has_line(t))
		return ELSE_NS;
	return t->answers == 0 ? SOON_NS : TERMINAL_NS;
}

/* However seldom is looked. */
static void toll_due(evutil_socket_t fd, short what, void *arg)
{
	struct toll *t = arg;

	(void)fd;
	(void)what;
	/* a lost connection is made again, and a run may be about to begin */
	if (t->failure != EVSPACE_FINE && t->failure != EVSPACE_NO_CONNECTION &&
	    t->failure != EVSPACE_NO_RUN)
		return;
	toll_after(t, period_of(t));
	if (!t->question)
		toll_begin(t);
}

static void toll_watch(struct toll *t)
{
	/* an archive costs nothing any more */
	if (t->client && t->client->replay)
		return;
	t->timer = evtimer_new(t->connection->base, toll_due, t);
	if (!t->timer)
		abort();
	toll_after(t, AFTER_NS);
}

struct toll *toll_of(struct evspace_client *client, const char *command, bool json)
{
	struct toll *t = toll_new(client->connection, NULL);

	t->client = client;
	t->command = command;
	t->json = json;
	toll_watch(t);
	return t;
}

void toll_beside(struct toll *t, const struct evspace_client *client)
{
	t->beside = client;
}

void toll_seldom(struct toll *t, const char *command)
{
	t->command = command;
	t->seldom = true;
	if (!t->timer)
		toll_watch(t);
}

/* Returns whether the answer has come. */
static bool toll_await(struct toll *t, int ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)ms * 1000000, now;

	t->fresh = false;
	if (!t->question)
		toll_begin(t);
	while (t->question && (now = clock_mono_ns()) < end &&
	       evspace_wait(t->connection, (int)((end - now) / 1000000) + 1) >= 0)
		;
	evspace_cancel(t->question);
	t->question = NULL;
	return t->fresh;
}

enum evspace_failure toll_ask(struct toll *t,
			      void (*show)(const struct evspace_costs *costs, void *arg), void *arg)
{
	t->show = show;
	t->arg = arg;
	(void)toll_await(t, ASK_MS);
	return t->failure;
}

const char *toll_why(const struct toll *t)
{
	return t->why;
}

/* ---- what it has cost ---- */

/* Since an answer. */
static int spent_since(const struct toll *t, enum answer since, struct evspace_spent *spent)
{
	double busiest = 0;

	for (size_t i = 0; i < t->n_agents; i++)
		busiest = fmax(busiest, t->agents[i].cpu_s[LAST] - t->agents[i].cpu_s[since]);
	return t->answers < 2
		       ? -1
		       : evspace_cost_between(&t->sums[since], &t->sums[LAST], busiest, spent);
}

int toll_spent(const struct toll *t, struct evspace_spent *spent)
{
	return spent_since(t, FIRST, spent);
}

static double rate_since(const struct toll *t, enum answer since)
{
	double ns = (double)(t->sums[LAST].taken_ns - t->sums[since].taken_ns);

	return (double)(t->waves[LAST] - t->waves[since]) * 1e9 / ns;
}

int toll_spent_last(const struct toll *t, struct evspace_spent *spent, double *rate)
{
	if (!t || spent_since(t, BEFORE, spent) < 0)
		return -1;
	*rate = rate_since(t, BEFORE);
	return 0;
}

/* ---- saying ---- */

static struct evspace_spending measured_of(const struct evspace_client *client)
{
	struct evspace_spending s;

	if (!client || !evspace_spending(client, &s))
		return (struct evspace_spending){
			.budget = NAN, .slowdown = NAN, .low = NAN, .high = NAN};
	if (s.why[0] || !isfinite(s.high))
		s.slowdown = s.low = s.high = NAN;
	s.slowdown += s.collecting;
	s.low += s.collecting;
	s.high += s.collecting;
	return s;
}

/* What it costs by the experiment that keeps a budget, with collecting; all NAN: there is none. */
static struct evspace_spending measured(const struct toll *t)
{
	struct evspace_spending s = measured_of(t->client), other;

	if (!t->beside)
		return s;
	/* each has what collecting costs in it: their sum is the most that it is */
	other = measured_of(t->beside);
	s.budget += other.budget;
	s.slowdown += other.slowdown;
	s.low = fmax(s.low, other.low);
	s.high += other.high;
	return s;
}

void toll_json(const struct toll *t, const struct evspace_spent *spent, double rate)
{
	struct evspace_spending s = measured(t);
	json_t *o = json_pack(
		"{s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "type", "cost", "rate_hz",
		json_figure(rate), "slowdown", json_figure(spent->slowdown), "low",
		json_figure(spent->low), "high", json_figure(spent->high), "collecting",
		json_figure(spent->collecting), "looking", json_figure(spent->looking),
		"waiting_for_processors", json_figure(spent->delayed), "involuntary_switches_per_s",
		json_figure(spent->switches_hz), "link_bytes_per_s", json_figure(spent->link_hz),
		"seconds", json_figure(spent->seconds));

	if (!o)
		abort();
	json_object_update_new(o,
			       json_pack("{s:o,s:o,s:o,s:o}", "budget", json_figure(s.budget),
					 "measured", json_number(s.slowdown), "measured_low",
					 json_number(s.low), "measured_high", json_number(s.high)));
	json_print(o, stdout);
}

static void spent_words(const struct toll *t, const struct evspace_spent *spent, double rate,
			bool last, char line[WORDS_TEXT])
{
	char about[UNIT_TEXT], low[UNIT_TEXT], high[UNIT_TEXT];
	struct evspace_spending s = measured(t);

	words_add(line, "%.1f looks a second", rate);
	if (isfinite(s.slowdown))
		words_add(line,
			  "; slowdown %.2f %% (%.2f to %.2f), measured, with a budget of %g %%",
			  100 * s.slowdown, 100 * s.low, 100 * s.high, 100 * s.budget);
	else if (!isfinite(spent->slowdown))
		words_add(line,
			  ", for which agents use %s of the program's time; what collecting costs "
			  "is not known%s: of so few events none was timed",
			  unit_share(about, spent->looking), last ? "" : " yet");
	else
		words_add(line, "; slowdown about %s (%s to %s)%s",
			  unit_share(about, spent->slowdown), unit_share(low, spent->low),
			  unit_share(high, spent->high),
			  last ? " by what collectors and agents use; evspace perturb --ab "
				 "measures it"
			       : "");
}

/* Say what the time since an answer has cost; the last time it is all of it. */
static void toll_say(struct toll *t, enum answer since)
{
	struct evspace_spent spent;
	bool last = since == FIRST;
	double rate;

	if (spent_since(t, since, &spent) < 0)
		return;
	rate = rate_since(t, since);
	if (t->json) {
		toll_json(t, &spent, rate);
		return;
	}
	t->line[0] = '\0';
	spent_words(t, &spent, rate, last, t->line);
	if (last && !t->seldom)
		table_say(stderr, "%s", t->line);
	else if (!has_line(t))
		table_say(stderr, "evspace %s: %s", t->command, t->line);
}

void toll_step(struct toll *t)
{
	uint64_t now = clock_mono_ns();

	if (t->fresh && t->answers > 1 && now >= t->say_ns) {
		toll_say(t, BEFORE);
		t->say_ns = t->seldom ? now + SELDOM_NS : 0;
	}
	t->fresh = false;
	if (t->line[0] && has_line(t))
		status_line_show(t->line);
}

void toll_end(struct toll *t)
{
	status_line_clear();
	if (t->answers > 0 && clock_mono_ns() - (uint64_t)t->sums[FIRST].taken_ns >= AFTER_NS &&
	    toll_await(t, END_MS))
		toll_say(t, FIRST);
}
