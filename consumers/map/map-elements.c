/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives elements of live runs the lifetimes and modes of a map that was applied. */
#include <stdlib.h>
#include <string.h>

#include "consumers/cli/command.h"
#include "consumers/cli/json.h"
#include "consumers/cli/options.h"
#include "consumers/map/map.h"
#include "node-agent/segment/segment-class.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/model/pathmap.h"
#include "pathmap/plan/rules.h"
#include "tree/data/op.h"
#include "tree/data/span.h"

/* Time for hosts to answer. */
#define ELEMENTS_WITHIN_MS 3000u

struct elements {
	const struct map_change *change;
	char **runs; /* live ones */
	size_t n_runs;
	const char *run; /* the present one */
	unsigned lifetimes, modes;
	bool bad;
};

/* ---- live runs ---- */

static void runs_note(struct elements *x, const char *run)
{
	if (strcmp(run, SPAN_RUN) == 0)
		return;
	for (size_t i = 0; i < x->n_runs; i++) {
		if (strcmp(x->runs[i], run) == 0)
			return;
	}
	x->runs = memory_room(x->runs, x->n_runs, sizeof(*x->runs));
	x->runs[x->n_runs++] = memory_copy(run);
}

static void runs_take(struct elements *x, const Evspace__Status *status)
{
	for (size_t i = 0; i < status->n_runs; i++) {
		if (status->runs[i]->alive > 0)
			runs_note(x, status->runs[i]->name);
	}
	for (size_t i = 0; i < status->n_below; i++)
		runs_take(x, status->below[i]);
}

static int runs_find(struct elements *x)
{
	Evspace__StatusAsk ask = EVSPACE__STATUS_ASK__INIT;
	Evspace__Frame *reply;
	int code = 0;

	ask.all = true;
	ask.scope = 1;
	ask.deadline_ms = ELEMENTS_WITHIN_MS;
	reply = options_ask(x->change->command, x->change->look,
			    &WIRE_FRAME(STATUS_ASK, status_ask, &ask), EVSPACE__FRAME__KIND_STATUS,
			    &code);
	if (!reply)
		return code;
	runs_take(x, reply->status);
	evspace__frame__free_unpacked(reply, NULL);
	return 0;
}

/* ---- commands ---- */

/* Send the command, and add up what it has changed. */
static void order(struct elements *x, Evspace__SwitchAsk *ask, unsigned *changed)
{
	const char *command = x->change->command;
	Evspace__Frame *reply;
	int code = 0;

	ask->scope = 1;
	ask->run = (char *)(uintptr_t)x->run;
	ask->view = (char *)(uintptr_t) "events";
	ask->deadline_ms = ELEMENTS_WITHIN_MS;
	reply = options_ask(command, x->change->look, &WIRE_FRAME(SWITCH_ASK, switch_ask, ask),
			    EVSPACE__FRAME__KIND_SWITCHED, &code);
	x->bad = x->bad || !reply;
	for (size_t i = 0; reply && i < reply->switched->n_hosts; i++) {
		const Evspace__Host *h = reply->switched->hosts[i];

		*changed += h->changed;
		x->bad = x->bad || h->why || h->text[0];
		if (h->why || h->text[0])
			fprintf(stderr, "%s: elements of %s stay as they are: %s\n", command,
				h->name, h->why ? wire_missing(h->why) : h->text);
	}
	if (reply)
		evspace__frame__free_unpacked(reply, NULL);
}

static char *channel_pattern(size_t channel)
{
	const char *const *names;

	pathmap_channels(&names);
	return memory_format("/**/%s", names[channel]);
}

static void lifetime_add(Evspace__SwitchAsk *ask, char *pattern, uint64_t ns)
{
	Evspace__Lifetime *lifetime = memory_new(1, sizeof(*lifetime));

	evspace__lifetime__init(lifetime);
	lifetime->pattern = pattern;
	lifetime->ns = ns;
	ask->lifetimes = memory_room(ask->lifetimes, ask->n_lifetimes, sizeof(Evspace__Lifetime *));
	ask->lifetimes[ask->n_lifetimes++] = lifetime;
}

/* All of them in one command, since elements whose lifetime is shorter for a moment lose tuples. */
static void lifetimes_order(struct elements *x)
{
	const struct pathmap *map = x->change->to;
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;
	const struct element_rule *rules;
	size_t n_rules = pathmap_rules(map, &rules), n;
	const char *const *names;

	n = pathmap_channels(&names);
	for (size_t i = 0; i < n; i++)
		lifetime_add(&ask, channel_pattern(i),
			     pathmap_recording(map, names[i])->lifetime_ns);
	for (size_t i = 0; i < n_rules; i++) {
		if (rules[i].says.lifetime_ns > 0)
			lifetime_add(&ask, memory_copy(rules[i].pattern),
				     rules[i].says.lifetime_ns);
	}
	order(x, &ask, &x->lifetimes);
	for (size_t i = 0; i < ask.n_lifetimes; i++) {
		free(ask.lifetimes[i]->pattern);
		free(ask.lifetimes[i]);
	}
	free(ask.lifetimes);
}

static void mode_order(struct elements *x, char *pattern, const char *mode)
{
	Evspace__SwitchAsk ask = EVSPACE__SWITCH_ASK__INIT;

	ask.change = true;
	ask.mode = (uint32_t)segment_mode_find(mode);
	ask.select = &pattern;
	ask.n_select = 1;
	order(x, &ask, &x->modes);
}

/* Does a rule of the map say the mode of elements of this channel? */
static bool has_mode(const struct pathmap *map, const char *channel)
{
	const struct element_rule *rules;
	size_t n = pathmap_rules(map, &rules);

	for (size_t i = 0; i < n; i++) {
		const char *last = strrchr(rules[i].pattern, '/') + 1;

		if (rules[i].says.mode && (strpbrk(last, "*?[") || strcmp(last, channel) == 0))
			return true;
	}
	return false;
}

static const char *mode_of(const struct recording *r)
{
	return r->collected ? r->mode : "off";
}

/* Classes that neither map says anything special of stay as evspace collect has switched them. */
static void modes_order(struct elements *x)
{
	const struct pathmap *from = x->change->from, *to = x->change->to;
	const struct element_rule *rules;
	size_t n_rules = pathmap_rules(to, &rules), n;
	const char *const *names;

	n = pathmap_channels(&names);
	for (size_t i = 0; i < n; i++) {
		const char *was = mode_of(pathmap_recording(from, names[i]));
		const char *is = mode_of(pathmap_recording(to, names[i]));
		char *pattern;

		if (strcmp(was, is) == 0 && !has_mode(from, names[i]) && !has_mode(to, names[i]))
			continue;
		pattern = channel_pattern(i);
		mode_order(x, pattern, is);
		free(pattern);
	}
	for (size_t i = 0; i < n_rules; i++) {
		if (rules[i].says.mode)
			mode_order(x, rules[i].pattern, rules[i].says.mode);
	}
}

static void run_print(const struct elements *x)
{
	if (x->change->json)
		json_print(json_pack("{ss so sI sI}", "type", "elements", "run", json_text(x->run),
				     "lifetimes", (json_int_t)x->lifetimes, "classes",
				     (json_int_t)x->modes),
			   stdout);
	else
		printf("run %s: %u element%s with another lifetime, %u class%s switched\n", x->run,
		       x->lifetimes, plural(x->lifetimes, "s"), x->modes, plural(x->modes, "es"));
}

int map_elements_change(const struct map_change *change)
{
	bool lifetimes = rules_differ(change->from, change->to, RULES_LIFETIME);
	bool modes = rules_differ(change->from, change->to, RULES_MODE);
	struct elements x = {.change = change};
	int code = 0;

	if (!lifetimes && !modes)
		return 0;
	code = runs_find(&x);
	for (size_t i = 0; i < x.n_runs; i++) {
		x.run = x.runs[i];
		x.lifetimes = x.modes = 0;
		if (lifetimes)
			lifetimes_order(&x);
		if (modes)
			modes_order(&x);
		run_print(&x);
		free(x.runs[i]);
	}
	free(x.runs);
	return code ? code : x.bad ? EXIT_BAD_NEWS : EXIT_FINE;
}
