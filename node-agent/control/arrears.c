/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for hosts that were away, until they have taken up what the map says of elements. */
#include "node-agent/control/arrears.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node-agent/control/audit.h"
#include "node-agent/control/properties.h"
#include "node-agent/control/remap-elements.h"
#include "node-agent/control/session.h"
#include "pathmap/base/memory.h"
#include "pathmap/base/quantity.h"
#include "pathmap/base/utf8.h"
#include "tree/scope/ask.h"
#include "tree/stage/stage.h"

/* A command waits for them itself; this is how soon there is the next one. */
#define AGAIN_S 5

/* Who gives it, in audits. */
#define ENTRY "the entry"

struct arrears {
	struct session_host *host;
	struct fanout_command_host carrier;
	struct fanout_command *command; /* NULL: none is under way */
	struct event *again;		/* pending while there is none, but hosts are in arrears */
	struct map_behind before;	/* from arrears_begin() to arrears_add() */
};

static void arrears_later(struct arrears *a, int seconds)
{
	const struct timeval in = {seconds, 0};

	if (a->host->active_map->behind.n)
		evtimer_add(a->again, &in);
}

static void arrears_stop(struct arrears *a)
{
	evtimer_del(a->again);
	fanout_command_free(a->command);
	a->command = NULL;
}

static const char *node_of(const Evspace__Host *h)
{
	const char *node = strrchr(h->name, '/');

	return node ? node + 1 : h->name;
}

/* Remember it, for an entry that is started anew, too. */
static void arrears_keep(struct arrears *a, const char *const *nodes, size_t n,
			 const struct pathmap_texts *since)
{
	struct active_map *c = a->host->active_map;
	struct error e;

	active_map_behind_set(c, nodes, n, since);
	if (active_map_keep(c, &e) < 0)
		fprintf(stderr, "evspace agent: %s\n", e.text);
}

/* A map that says how all are if others than those that are behind already come to these, which are
 * as the map before says; NULL: there is none. */
static const struct pathmap_texts *since_of(const struct active_map *c, bool others)
{
	if (c->behind.n == 0)
		return &c->previous;
	return !others || texts_equal(&c->behind.since, &c->previous) ? &c->behind.since : NULL;
}

void arrears_begin(struct arrears *a, const struct plan *plan)
{
	const struct active_map *c = a->host->active_map;
	const char **nodes;
	size_t n = 0;

	arrears_stop(a);
	if (!plan)
		return;
	map_behind_fini(&a->before);
	map_behind_copy(&a->before, &c->behind);
	nodes = memory_new(c->behind.n + plan->n_places + 1, sizeof(*nodes));
	for (; n < c->behind.n; n++)
		nodes[n] = c->behind.nodes[n];
	PLAN_FOREACH (walk, plan->root) {
		if (walk.place->leaf)
			nodes[n++] = walk.place->node;
	}
	arrears_keep(a, nodes, n, since_of(c, true));
	free(nodes);
}

void arrears_add(struct arrears *a, Evspace__Host *const *hosts, size_t n)
{
	struct active_map *c = a->host->active_map;
	const char **nodes;
	bool others = false;
	size_t total;

	active_map_behind_set(c, (const char *const *)a->before.nodes, a->before.n,
			      &a->before.since);
	map_behind_fini(&a->before);
	total = c->behind.n;
	nodes = memory_new(total + n + 1, sizeof(*nodes));
	for (size_t i = 0; i < total; i++)
		nodes[i] = c->behind.nodes[i];
	for (size_t i = 0; i < n; i++) {
		if (!remap_elements_away(hosts[i]))
			continue;
		nodes[total++] = node_of(hosts[i]);
		others |= !active_map_is_behind(c, node_of(hosts[i]));
	}
	arrears_keep(a, nodes, total, since_of(c, others));
	free(nodes);
}

/* ---- the command ---- */

static void arrears_say(const struct arrears *a, const Evspace__Host *h)
{
	char what[128], outcome[512], text[UTF8_QUOTED] = "";

	if (h->text[0])
		utf8_quote(h->text, text);
	snprintf(what, sizeof(what), "tell %.60s of map generation %llu", node_of(h),
		 (unsigned long long)a->host->active_map->generation);
	snprintf(outcome, sizeof(outcome),
		 "%u element%s with another lifetime, %u class%s switched%s%s", h->changed,
		 plural(h->changed, "s"), h->switched, plural(h->switched, "es"),
		 text[0] ? "; " : "", text);
	audit_done(ENTRY, what, false, outcome);
}

static void arrears_done(void *arg, struct fanout_command *command)
{
	struct arrears *a = arg;
	const char **nodes;
	Evspace__Host **hosts;
	size_t n, left = 0;

	hosts = fanout_command_hosts(command, &n);
	nodes = memory_new(n + 1, sizeof(*nodes));
	for (size_t i = 0; i < n; i++) {
		if (hosts[i]->why)
			nodes[left++] = node_of(hosts[i]);
		else
			arrears_say(a, hosts[i]);
	}
	if (left < n)
		arrears_keep(a, nodes, left, &a->host->active_map->behind.since);
	free(nodes);
	free(hosts);
	arrears_stop(a);
	arrears_later(a, AGAIN_S);
}

/* Cut off what leads to none of them. */
static bool way_keep(struct plan_place *p, const struct active_map *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_children; i++) {
		if (way_keep(p->children[i], c))
			p->children[kept++] = p->children[i];
		else
			plan_way_free(p->children[i]);
	}
	p->n_children = kept;
	p->leaf = p->leaf && active_map_is_behind(c, p->node);
	return p->leaf || kept > 0;
}

/* Tell those of @plan. Returns whether there are some. */
static bool arrears_tell(struct arrears *a, const struct plan *plan,
			 const Evspace__SwitchAsk *order)
{
	Evspace__SwitchAsk ask = *order;
	struct error e;

	if (!way_keep(plan->root, a->host->active_map))
		return false;
	ask.deadline_ms = ASK_DEADLINE_MOST_MS;
	ask.awaits = true;
	ask.who = (char *)(uintptr_t)ENTRY;
	a->command = remap_elements_command(&a->carrier, a->host, &ask, plan->root, &e);
	if (!a->command) {
		fprintf(stderr, "evspace agent: %s\n", e.text);
		arrears_later(a, AGAIN_S);
	}
	return true;
}

static void arrears_look(evutil_socket_t fd, short what, void *arg)
{
	struct arrears *a = arg;
	struct active_map *c = a->host->active_map;
	const struct plan_wish wish = {.view = "events"};
	struct pathmap *since = c->behind.since.application
					? texts_parse(&c->behind.since, stage_check, NULL)
					: NULL;
	Evspace__SwitchAsk *order = properties_order(since, c->map);
	struct plan *plan = NULL;
	struct error e;

	(void)fd;
	(void)what;
	if (order && active_map_plan(c, NULL, &wish, NULL, &plan, &e) < 0)
		arrears_later(a, AGAIN_S);
	else if (!order || !arrears_tell(a, plan, order))
		/* nothing is different for them, or they are not in the map any more */
		arrears_keep(a, NULL, 0, NULL);
	plan_free(plan);
	if (order)
		evspace__switch_ask__free_unpacked(order, NULL);
	pathmap_free(since);
}

void arrears_renew(struct arrears *a)
{
	const struct active_map *c = a->host->active_map;

	arrears_stop(a);
	/* without those that are not in the map any more */
	if (c->behind.n)
		arrears_keep(a, (const char *const *)c->behind.nodes, c->behind.n,
			     &c->behind.since);
	arrears_later(a, 0);
}

/* ---- life ---- */

struct arrears *arrears_new(struct session_host *host)
{
	struct arrears *a = memory_new(1, sizeof(*a));

	a->host = host;
	a->carrier.done = arrears_done;
	a->carrier.arg = a;
	a->again = evtimer_new(host->base, arrears_look, a);
	if (!a->again)
		abort();
	arrears_later(a, 1);
	return a;
}

void arrears_free(struct arrears *a)
{
	if (!a)
		return;
	arrears_stop(a);
	map_behind_fini(&a->before);
	event_free(a->again);
	free(a);
}
