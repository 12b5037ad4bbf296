/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the plans of views by the map in effect, or by one that may come. */
#include "node-agent/map/active-map.h"

#include <stdlib.h>

#include "pathmap/plan/holding.h"
#include "tree/data/span.h"

struct plan_wish active_map_wish(const Evspace__Open *open)
{
	const ProtobufCBinaryData *define = &open->define;
	struct plan_wish wish = {
		.view = open->view[0] || define->len ? open->view : "events",
		.monitors = span_is_run(open->run),
		.tree = open->tree,
		.concurrency = open->concurrency,
	};

	if (define->len)
		wish.definition = (struct definition){(const char *)define->data, define->len};
	return wish;
}

/* Does a wave of what a consumer has defined cost no more than the map allows? */
static int defined_check(const struct plan *plan, const struct pathmap *map,
			 const struct calibration *costs, struct error *e)
{
	struct cost cost;
	int rc;

	if (!plan->defined || !pathmap_definable(map)->cost_ns)
		return 0;
	cost_predict(&cost, plan, map, costs, 1);
	rc = cost_allowed(&cost, plan, map, e);
	cost_fini(&cost);
	return rc;
}

int active_map_plan(struct active_map *c, const struct active_map_draft *draft,
		    const struct plan_wish *wish, const struct pathmap *other, struct plan **plan,
		    struct error *e)
{
	const struct pathmap *map = draft ? draft->map : c->map;
	struct plan *made;

	if (plan_make_wish(map, wish, &made, e) < 0)
		return -1;
	if (defined_check(made, map, &c->costs, e) < 0 ||
	    roster_number(draft ? draft->roster : c->roster, made, e) < 0) {
		plan_free(made);
		return -1;
	}
	holding_set(made, map);
	if (other)
		holding_compare(made, map, other);
	/* The trees of what is in no map are in no map that a host knows. */
	if (draft || c->generation > 1 || made->defined || (wish->tree && wish->tree[0]))
		active_map_passes(c, made->root);
	*plan = made;
	return 0;
}
