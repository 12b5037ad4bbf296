/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends elements what a map that was applied says of them, and sums up what has come of it. */
#include "node-agent/control/remap-elements.h"

#include <errno.h>
#include <stdlib.h>

#include "node-agent/control/made.h"
#include "node-agent/control/properties.h"
#include "node-agent/control/session.h"
#include "pathmap/base/memory.h"
#include "tree/wire/wire-place.h"

/* Time for hosts to answer. */
#define ELEMENTS_WITHIN_MS 3000u

void remap_elements_prepare(struct remap_elements *x, const struct pathmap *from,
			    const struct pathmap *to)
{
	x->order = properties_order(from, to);
}

static void unchanged_add(struct remap_elements *x, const char *node, const char *text)
{
	Evspace__Unready *u = memory_new(1, sizeof(*u));

	evspace__unready__init(u);
	u->node = memory_copy(node);
	u->text = memory_copy(text);
	x->unchanged = memory_room(x->unchanged, x->n_unchanged, sizeof(*x->unchanged));
	x->unchanged[x->n_unchanged++] = u;
}

bool remap_elements_away(const Evspace__Host *h)
{
	return h->why == MISSING_UNREACHABLE || h->why == MISSING_LATE;
}

static void behind_add(struct remap_elements *x, const char *name, const char *why)
{
	char *text = memory_format("%s; it is told when it is back", why);

	unchanged_add(x, name, text);
	free(text);
}

void remap_elements_behind(struct remap_elements *x)
{
	const struct active_map *c = x->host->active_map;

	for (size_t i = 0; i < c->behind.n; i++) {
		const char *node = c->behind.nodes[i], *cluster = pathmap_cluster(c->map, node);
		char *name = memory_format("/%s/%s", cluster && *cluster ? cluster : "-", node);

		behind_add(x, name, "it has not answered since");
		free(name);
	}
}

static void elements_done(void *arg, struct fanout_command *command)
{
	struct remap_elements *x = arg;
	Evspace__Host **hosts;
	size_t n;

	hosts = fanout_command_hosts(command, &n);
	for (size_t i = 0; i < n; i++) {
		const Evspace__Host *h = hosts[i];

		x->lifetimes += h->changed;
		x->classes += h->switched;
		if (h->text[0])
			unchanged_add(x, h->name, h->text);
		else if (remap_elements_away(h))
			behind_add(x, h->name, wire_missing(h->why));
		else if (h->why)
			unchanged_add(x, h->name, wire_missing(h->why));
	}
	x->answered(x->arg, hosts, n);
	free(hosts);
	fanout_command_free(command);
	x->command = NULL;
	x->done(x->arg);
}

static void carry(void *arg, const Evspace__SwitchAsk *ask, const struct plan_place *place,
		  struct classes *classes, Evspace__Host *host, struct fanout_command_said *said)
{
	const struct remap_elements *x = arg;

	commanded_carry(x->host, ask, place, classes, host, said);
}

static bool is_run(const char *name)
{
	(void)name;
	return false;
}

struct fanout_command *remap_elements_command(struct fanout_command_host *carrier,
					      struct session_host *host,
					      const Evspace__SwitchAsk *order,
					      const struct plan_place *root, struct error *e)
{
	Evspace__SwitchAsk ask = *order;
	struct fanout_command *command;

	carrier->base = host->base;
	carrier->children = host->scopes->children;
	carrier->is_run = is_run;
	ask.place = wire_place_new(root);
	ask.signer = active_map_signer(host->active_map);
	command = fanout_command_new(carrier, NULL, &ask, e);
	wire_place_free(ask.place);
	return command;
}

void remap_elements_begin(struct remap_elements *x, const struct plan *plan, const char *peer,
			  const char *who)
{
	Evspace__SwitchAsk ask;
	struct error e;

	if (!x->order)
		return;
	ask = *x->order;
	/* the entry may hold no ranks, and so be no leaf */
	if (ask.made && made_keep(x->host->sources->store, x->host->sources->node,
				  ask.made->elements, true, &e) < 0)
		unchanged_add(x, x->host->sources->node, e.text);
	x->carrier = (struct fanout_command_host){.carry = carry, .done = elements_done, .arg = x};
	ask.deadline_ms = ELEMENTS_WITHIN_MS;
	ask.who = (char *)(uintptr_t)who;
	ask.peer = (char *)(uintptr_t)peer;
	x->command = remap_elements_command(&x->carrier, x->host, &ask, plan->root, &e);
	if (!x->command)
		unchanged_add(x, plan->root->node, e.text);
}

void remap_elements_end(struct remap_elements *x)
{
	fanout_command_free(x->command);
	x->command = NULL;
	if (x->order)
		evspace__switch_ask__free_unpacked(x->order, NULL);
	x->order = NULL;
	for (size_t i = 0; i < x->n_unchanged; i++)
		evspace__unready__free_unpacked(x->unchanged[i], NULL);
	free(x->unchanged);
	x->unchanged = NULL;
	x->n_unchanged = x->lifetimes = x->classes = 0;
}
