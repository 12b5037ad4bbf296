/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens trees that nobody asks for waves. */
#include "node-agent/control/remap-probe.h"

#include <stdlib.h>
#include <sys/random.h>

#include "node-agent/control/session.h"
#include "tree/wire/wire-place.h"

static void probe_settled(void *arg, struct scope *scope)
{
	struct remap_probe *p = arg;

	(void)scope;
	p->settled = true;
	p->done(p->arg);
}

int remap_probe_begin(struct remap_probe *p, struct link *asker,
		      const struct active_map_draft *draft, const struct pathmap *other,
		      struct error *e)
{
	static char none[] = "";
	struct session_host *host = p->host;
	Evspace__Open open = EVSPACE__OPEN__INIT;
	unsigned char id[16];
	const struct plan_wish wish = {.view = "events"};
	struct plan *plan;

	if (getrandom(id, sizeof(id), 0) != sizeof(id))
		abort();
	if (active_map_plan(host->active_map, draft, &wish, other, &p->plan, e) < 0)
		return -1;
	plan = p->plan;
	open.id.data = id;
	open.id.len = sizeof(id);
	open.run = none;
	open.view = plan->view;
	open.reading = READ_LATEST;
	open.generation = host->active_map->generation + (draft ? 1 : 0);
	open.place = wire_place_new(plan->root);
	open.signer = active_map_signer(host->active_map);
	p->scope = scope_new(host->scopes, asker, &open, probe_settled, p, e);
	if (!p->scope)
		error_prefix(e, "%s", plan->root->node);
	wire_place_free(open.place);
	return p->scope ? 0 : -1;
}

void remap_probe_end(struct remap_probe *p)
{
	scope_free(p->scope, false);
	plan_free(p->plan);
	p->scope = NULL;
	p->plan = NULL;
	p->settled = false;
}
