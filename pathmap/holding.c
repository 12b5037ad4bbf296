/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of ranks by node, and what two maps disagree about. */
#include "pathmap/holding.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/memory.h"
#include "pathmap/parts.h"
#include "pathmap/placement.h"

/* What is needed to say it of all leaves. */
struct holding {
	const struct pathmap *map, *other;
	struct placement placement;
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
	if (strcmp(list, "all") == 0)
		return true;
	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			return false;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (rank >= first && rank <= last)
			return true;
		list = *end == ',' ? end + 1 : "";
	}
	return false;
}

/* Could @rank be held by the node's agent, and does the other map say that another node has it? */
static bool is_elsewhere(const struct holding *h, const char *node, const char *holds,
			 unsigned rank)
{
	const char *there = pathmap_rank_node(h->other, rank);

	return there != NULL && strcmp(there, node) != 0 &&
	       (!h->map->mapping.places || holding_has(holds, rank));
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

static char *elsewhere(const struct holding *h, const char *node, const char *holds)
{
	const struct mapping *there = &h->other->mapping;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	const char *comma = "";

	if (out == NULL)
		abort();
	if (there->everywhere != NULL && strcmp(there->everywhere->name, node) != 0)
		fputs(h->map->mapping.places ? holds : "all", out);
	for (unsigned rank = 0; h->differ && rank < there->n_ranks; rank++) {
		unsigned last = rank;

		if (!is_elsewhere(h, node, holds, rank))
			continue;
		while (last + 1 < there->n_ranks && is_elsewhere(h, node, holds, last + 1))
			last++;
		fprintf(out, "%s%u-%u", comma, rank, last);
		comma = ",";
		rank = last;
	}
	fclose(out);
	return text;
}

static void place_set(const struct holding *h, struct plan_place *place)
{
	place->placed = h->map->mapping.places;
	free(place->holds);
	place->holds = place->placed && place->leaf ? list_of(h->map, &h->placement, place->node)
						    : memory_copy("");
	if (h->other != NULL && place->leaf) {
		free(place->elsewhere);
		place->elsewhere = elsewhere(h, place->node, place->holds);
	}
	for (size_t i = 0; i < place->n_children; i++)
		place_set(h, place->children[i]);
}

void holding_set(struct plan *plan, const struct pathmap *map, const struct pathmap *other)
{
	struct holding h = {.map = map, .other = other};

	h.differ = other != NULL && maps_differ(map, other);
	placement_init(&h.placement, map);
	place_set(&h, plan->root);
	placement_fini(&h.placement);
}
