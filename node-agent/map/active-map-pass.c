/* SPDX-License-Identifier: BSD-3-Clause */
/* Signs passes for the nodes of a plan by an applied map, which only the entry has. */
#include "node-agent/map/active-map.h"

#include <stdlib.h>

#include "pathmap/base/memory.h"
#include "tree/link/pass.h"

/* The nodes that may stand above the current place; names stay the plan's. */
struct above {
	struct pass_book *book;
	const char **names;
	size_t n;
};

static void above_add(struct above *a, const char *name)
{
	a->names = memory_room(a->names, a->n, sizeof(*a->names));
	a->names[a->n++] = name;
}

static void alternates_add(struct above *a, const struct plan_place *p)
{
	for (size_t i = 0; i < p->n_alternates; i++)
		above_add(a, p->alternates[i].node);
}

/* A place keeps its own elements when an alternate runs its part, so the alternate is above it,
 * too. */
static void place_sign(struct above *a, struct plan_place *p)
{
	size_t outer = a->n;

	for (size_t i = 0; i < p->n_alternates; i++)
		p->alternates[i].pass = pass_new(a->book, p->alternates[i].node, a->names, outer);
	alternates_add(a, p);
	p->pass = pass_new(a->book, p->node, a->names, a->n);
	above_add(a, p->node);
	for (size_t i = 0; i < p->n_children; i++)
		place_sign(a, p->children[i]);
	a->n = outer;
}

void active_map_passes(const struct active_map *c, struct plan_place *root)
{
	struct above a = {.book = c->passes};

	if (!c->passes)
		return;
	above_add(&a, root->node);
	alternates_add(&a, root);
	for (size_t i = 0; i < root->n_children; i++)
		place_sign(&a, root->children[i]);
	free(a.names);
}

struct plan_place *active_map_all(const struct active_map *c)
{
	struct plan_place *all = plan_all(c->map);

	if (c->generation > 1)
		active_map_passes(c, all);
	return all;
}

ProtobufCBinaryData active_map_signer(const struct active_map *c)
{
	return c->passes ? pass_signer(c->passes) : (ProtobufCBinaryData){0, NULL};
}
