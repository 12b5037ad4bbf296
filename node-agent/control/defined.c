/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks a consumer that defines a view against what the map lets it do. */
#include "node-agent/control/defined.h"

#include <errno.h>
#include <string.h>

#include "node-agent/control/rights.h"
#include "node-agent/control/session.h"
#include "pathmap/model/definable.h"
#include "pathmap/model/pathmap.h"

static bool is_same(const struct peer *a, const struct peer *b)
{
	return a->local == b->local && (!a->local || a->uid == b->uid) &&
	       strcmp(a->name, b->name) == 0;
}

static bool same_patterns(const Evspace__Open *a, const Evspace__Open *b)
{
	for (size_t i = 0; i < a->n_within && a->n_within == b->n_within; i++) {
		if (strcmp(a->within[i], b->within[i]) != 0)
			return false;
	}
	return a->n_within == b->n_within;
}

/* Is it one view, open again? Who comes back has the same ones open twice, by the same ids; but
 * others can have the same id, too, if each came to the tree of one that had its own. */
static bool is_view(const struct opened *o, const Evspace__Open *open)
{
	const Evspace__Open *its = scope_opened_with(o->scope);

	return opened_is(o, open->id) && its->define.len == open->define.len &&
	       memcmp(its->define.data, open->define.data, open->define.len) == 0 &&
	       (!open->run[0] || strcmp(its->run, open->run) == 0) &&
	       strcmp(its->tree, open->tree) == 0 &&
	       strcmp(its->concurrency, open->concurrency) == 0 && same_patterns(its, open);
}

/* Is the scope the first one of its view in the list? On the same connection it is another one. */
static bool is_first(const struct opened_list *views, const struct opened *scope)
{
	const struct opened *o = LIST_FIRST(views);

	while (o != scope &&
	       (o->link == scope->link || !is_view(o, scope_opened_with(scope->scope))))
		o = LIST_NEXT(o, view);
	return o == scope;
}

/* How many views of its own the peer of @link has open, but for @open, if it comes back. */
static unsigned defined_count(const struct opened_list *views, const struct link *link,
			      const Evspace__Open *open)
{
	const struct peer *peer = link_peer(link);
	Evspace__Open within = *open;
	const struct opened *o;
	unsigned n = 0;

	/* as scopes remember what a consumer selects */
	within.within = open->select;
	within.n_within = open->n_select;
	LIST_FOREACH (o, views, view) {
		if (scope_opened_with(o->scope)->define.len && is_same(link_peer(o->link), peer) &&
		    (o->link == link || !is_view(o, &within)) && is_first(views, o))
			n++;
	}
	return n;
}

int defined_role(const struct pathmap *map, const struct peer *peer, struct error *e)
{
	if (pathmap_definable(map)->by != DEFINER_CONTROL)
		return 0;
	return rights_may(peer, ROLE_CONTROL, "define views, which the map lets control alone do",
			  e);
}

uint32_t defined_window(const struct pathmap *map, const struct plan *plan)
{
	return plan->defined ? pathmap_definable(map)->window : 0;
}

int defined_may(const struct session_host *host, const struct link *link, const Evspace__Open *open,
		struct error *e)
{
	const struct pathmap *map = host->active_map->map;
	const struct peer *peer = link_peer(link);
	unsigned n;

	if (active_map_is_entry(host->active_map, e) < 0 || defined_role(map, peer, e) < 0)
		return -1;
	n = defined_count(&host->views, link, open);
	if (n < pathmap_definable(map)->open)
		return 0;
	errno = EMFILE;
	return errorf(
		e,
		"%s has %u views of its own open already, which is the most by the map; close "
		"one of them",
		peer->name[0] ? peer->name : "this consumer", n);
}
