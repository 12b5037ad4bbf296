/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks by node, and contradictions of two maps. */
#include "pathmap/plan/holding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"
#include "pathmap/model/parts.h"

/* The state of comparing all leaves. */
struct holding {
	const struct pathmap *map, *other;
	bool differ;
};

static char *list_of(const struct pathmap *map, const struct placement *placement, const char *node)
{
	const struct node *found = cluster_map_node(&map->clusters, node);

	return found != NULL ? placement_text(placement, map, found) : memory_copy("");
}

char *holding_list(const struct pathmap *map, const char *node)
{
	struct placement placement;
	char *list;

	placement_init(&placement, map);
	list = list_of(map, &placement, node);
	placement_fini(&placement);
	return list;
}

bool holding_has(const char *list, unsigned rank)
{
	bool has = strcmp(list, "all") == 0;
	struct interval next;

	while (!has && interval_next(&list, &next))
		has = rank >= next.from && rank < next.to;
	return has;
}

bool holding_other(const char *elsewhere, unsigned rank, char *node, size_t room)
{
	while (*elsewhere) {
		const char *end = elsewhere + strcspn(elsewhere, ";");
		const char *at = memchr(elsewhere, '@', (size_t)(end - elsewhere));
		char *list = strndup(elsewhere, (size_t)((at ? at : end) - elsewhere));
		bool has;

		if (list == NULL)
			abort();
		has = at != NULL && holding_has(list, rank);
		free(list);
		if (has) {
			snprintf(node, room, "%.*s", (int)(end - at - 1), at + 1);
			return true;
		}
		elsewhere = *end ? end + 1 : end;
	}
	return false;
}

/* The node of @rank in the other map, if it differs and this node's agent could hold the rank. */
static const char *other_node(const struct holding *h, const char *node, const char *holds,
			      unsigned rank)
{
	const char *there = pathmap_rank_node(h->other, rank);

	if (there == NULL || strcmp(there, node) == 0 ||
	    (h->map->mapping.places && !holding_has(holds, rank)))
		return NULL;
	return there;
}

static bool maps_differ(const struct pathmap *a, const struct pathmap *b)
{
	const struct mapping *m = &a->mapping, *n = &b->mapping;
	size_t ranks = m->n_ranks > n->n_ranks ? m->n_ranks : n->n_ranks;

	if (!m->places || !n->places || m->everywhere != NULL || n->everywhere != NULL)
		return true;
	for (unsigned rank = 0; rank < ranks; rank++) {
		const char *here = pathmap_rank_node(a, rank), *there = pathmap_rank_node(b, rank);

		if (here != NULL && there != NULL && strcmp(here, there) != 0)
			return true;
	}
	return false;
}

/* Ranks of @node that the other map puts on other nodes: "0-3@b1;7-7@b2". */
static char *elsewhere(const struct holding *h, const char *node, const char *holds)
{
	const struct mapping *there = &h->other->mapping;
	const char *all = h->map->mapping.places ? holds : "all", *between = "";
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		abort();
	if (there->everywhere != NULL && strcmp(there->everywhere->name, node) != 0 && all[0])
		fprintf(out, "%s@%s", all, there->everywhere->name);
	for (unsigned rank = 0; h->differ && rank < there->n_ranks; rank++) {
		const char *other = other_node(h, node, holds, rank);
		unsigned last = rank;

		if (other == NULL)
			continue;
		while (last + 1 < there->n_ranks && other_node(h, node, holds, last + 1) == other)
			last++;
		fprintf(out, "%s%u-%u@%s", between, rank, last, other);
		between = ";";
		rank = last;
	}
	fclose(out);
	return text;
}

void holding_compare(struct plan *plan, const struct pathmap *map, const struct pathmap *other)
{
	struct holding h = {map, other, maps_differ(map, other)};

	PLAN_FOREACH (walk, plan->root) {
		if (!walk.place->leaf)
			continue;
		free(walk.place->elsewhere);
		walk.place->elsewhere = elsewhere(&h, walk.place->node, walk.place->holds);
	}
}

void holding_set(struct plan *plan, const struct pathmap *map)
{
	struct placement placement;

	placement_init(&placement, map);
	PLAN_FOREACH (walk, plan->root) {
		struct plan_place *place = walk.place;

		place->placed = map->mapping.places;
		free(place->holds);
		place->holds = place->placed && place->leaf ? list_of(map, &placement, place->node)
							    : memory_copy("");
	}
	placement_fini(&placement);
}
