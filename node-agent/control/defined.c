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

/* Is the scope the first one of its id in the list? Who comes back has the same ones open twice. */
static bool is_first(const struct opened_list *views, const struct opened *scope)
{
	const struct opened *o = LIST_FIRST(views);

	while (o != scope && !opened_is(o, scope_opened_with(scope->scope)->id))
		o = LIST_NEXT(o, view);
	return o == scope;
}

/* How many views of its own the peer has open, but for the one with this id. */
static unsigned defined_count(const struct opened_list *views, const struct peer *peer,
			      ProtobufCBinaryData id)
{
	const struct opened *o;
	unsigned n = 0;

	LIST_FOREACH (o, views, view) {
		if (scope_opened_with(o->scope)->define.len && is_same(link_peer(o->link), peer) &&
		    !opened_is(o, id) && is_first(views, o))
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

int defined_may(const struct session_host *host, const struct link *link, const Evspace__Open *open,
		struct error *e)
{
	const struct pathmap *map = host->active_map->map;
	const struct peer *peer = link_peer(link);
	unsigned n;

	if (active_map_is_entry(host->active_map, e) < 0 || defined_role(map, peer, e) < 0)
		return -1;
	n = defined_count(&host->views, peer, open->id);
	if (n < pathmap_definable(map)->open)
		return 0;
	errno = EMFILE;
	return errorf(
		e,
		"%s has %u views of its own open already, which is the most by the map; close "
		"one of them",
		peer->name[0] ? peer->name : "this consumer", n);
}
