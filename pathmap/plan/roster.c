/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes and their indexes, by name and by index. */
#include "pathmap/plan/roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

struct roster_entry {
	char *node;
	uint32_t index;
	UT_hash_handle hh;
};

struct roster {
	struct roster_entry *entries;
	char **nodes; /* by index; "": free */
	size_t n;
	size_t low; /* no lower index is free */
};

static char nobody[] = "";

struct roster *roster_new(void)
{
	return memory_new(1, sizeof(struct roster));
}

void roster_free(struct roster *roster)
{
	struct roster_entry *entry, *next;

	if (roster == NULL)
		return;
	HASH_ITER(hh, roster->entries, entry, next)
	{
		HASH_DEL(roster->entries, entry);
		free(entry->node);
		free(entry);
	}
	free(roster->nodes);
	free(roster);
}

static struct roster_entry *roster_find(const struct roster *roster, const char *node)
{
	struct roster_entry *entry;

	HASH_FIND_STR(roster->entries, node, entry);
	return entry;
}

/* @index is free, and at most the next one. */
static void roster_put(struct roster *roster, const char *node, size_t index)
{
	struct roster_entry *entry = memory_new(1, sizeof(*entry));

	entry->node = memory_copy(node);
	entry->index = (uint32_t)index;
	if (index == roster->n) {
		roster->nodes = memory_room(roster->nodes, roster->n, sizeof(*roster->nodes));
		roster->n++;
	}
	roster->nodes[index] = entry->node;
	HASH_ADD_KEYPTR(hh, roster->entries, entry->node, strlen(entry->node), entry);
}

/* Set the next index to @node, or to free (""). */
static void roster_set(struct roster *roster, size_t index, const char *node)
{
	if (node[0]) {
		roster_put(roster, node, index);
		return;
	}
	roster->nodes = memory_room(roster->nodes, roster->n, sizeof(*roster->nodes));
	roster->nodes[roster->n++] = nobody;
}

int roster_add(struct roster *roster, const char *node, struct error *e)
{
	if (roster_find(roster, node) != NULL)
		return 0;
	while (roster->low < roster->n && roster->nodes[roster->low][0])
		roster->low++;
	if (roster->low == PLAN_PLACES) {
		errno = ENOSPC;
		return errorf(e,
			      "trees with more than %u different hosts, over all views and the "
			      "maps before; start the entry agent anew to forget those that are "
			      "gone",
			      PLAN_PLACES);
	}
	roster_put(roster, node, roster->low);
	return 0;
}

struct roster *roster_copy(const struct roster *roster)
{
	struct roster *copy = roster_new();

	for (size_t i = 0; i < roster->n; i++)
		roster_set(copy, i, roster->nodes[i]);
	return copy;
}

/* Add the nodes of the map to @known. */
static void known_add(struct roster *known, const struct pathmap *map)
{
	const char *const *nodes;
	size_t n = map != NULL ? pathmap_nodes(map, &nodes) : 0;

	for (size_t i = 0; i < n; i++) {
		if (roster_find(known, nodes[i]) == NULL)
			roster_put(known, nodes[i], known->n);
	}
}

int roster_restore(struct roster *roster, char *const *nodes, size_t n,
		   const struct pathmap *const maps[2], struct error *e)
{
	struct roster *known = roster_new();

	known_add(known, maps[0]);
	known_add(known, maps[1]);
	for (size_t i = 0; i < n && i < PLAN_PLACES; i++)
		roster_set(roster, i, roster_find(known, nodes[i]) != NULL ? nodes[i] : nobody);
	roster_free(known);
	if (n <= PLAN_PLACES)
		return 0;
	errno = ENOSPC;
	return errorf(e, "%zu nodes were kept; at most %u are possible", n, PLAN_PLACES);
}

int roster_number(struct roster *roster, struct plan *plan, struct error *e)
{
	PLAN_FOREACH (walk, plan->root) {
		if (roster_add(roster, walk.place->node, e) < 0)
			return -1;
		walk.place->index = roster_find(roster, walk.place->node)->index;
	}
	return 0;
}

/* A view of a map, and how many places its tree has. */
struct sized {
	const char *view;
	size_t places, at;
};

static int larger_first(const void *a, const void *b)
{
	const struct sized *left = a, *right = b;

	if (left->places != right->places)
		return left->places < right->places ? 1 : -1;
	return (left->at > right->at) - (left->at < right->at);
}

static int view_number(struct roster *roster, const struct pathmap *map, const char *view,
		       size_t *places, struct error *e)
{
	struct plan *plan;
	int result = 0;

	if (plan_make(map, view, &plan, e) < 0)
		return -1;
	*places = plan->n_places;
	if (roster)
		result = roster_number(roster, plan, e);
	plan_free(plan);
	return result;
}

/* Indexes in the largest trees are in preorder, so that a subtree's leaves are one range, and their
 * parts stay small when they are folded (tree/data/leaves.h). */
static int views_number(struct roster *roster, const struct pathmap *map, struct error *e)
{
	const char *const *views;
	size_t n = pathmap_views(map, &views);
	struct sized *sized = memory_new(n + 1, sizeof(*sized));
	int result = 0;

	for (size_t i = 0; i < n && result == 0; i++) {
		sized[i] = (struct sized){.view = views[i], .at = i};
		result = view_number(NULL, map, views[i], &sized[i].places, e);
	}
	if (result == 0)
		qsort(sized, n, sizeof(*sized), larger_first);
	for (size_t i = 0; i < n && result == 0; i++)
		result = view_number(roster, map, sized[i].view, &sized[i].places, e);
	free(sized);
	return result;
}

int roster_fill(struct roster *roster, const struct pathmap *map, struct error *e)
{
	const char *const *nodes;
	int result = views_number(roster, map, e);
	size_t n = pathmap_nodes(map, &nodes);

	/* views of monitors have nodes that are in no other view */
	for (size_t i = 0; i < n && result == 0 && roster_count(roster) < PLAN_PLACES; i++)
		result = roster_add(roster, nodes[i], e);
	return result;
}

size_t roster_count(const struct roster *roster)
{
	return roster->n;
}

char **roster_nodes(const struct roster *roster)
{
	return roster->nodes;
}
