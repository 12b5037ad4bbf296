/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes and their indexes, which only grow. */
#include "pathmap/roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "pathmap/memory.h"

struct entry {
	char *node;
	uint32_t index;
	UT_hash_handle hh;
};

struct roster {
	struct entry *entries;
	char **nodes;
	size_t n;
};

struct roster *roster_new(void)
{
	return memory_new(1, sizeof(struct roster));
}

void roster_free(struct roster *roster)
{
	struct entry *entry, *next;

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

static struct entry *roster_find(const struct roster *roster, const char *node)
{
	struct entry *entry;

	HASH_FIND_STR(roster->entries, node, entry);
	return entry;
}

int roster_add(struct roster *roster, const char *node, struct error *e)
{
	struct entry *entry = roster_find(roster, node);

	if (entry != NULL)
		return 0;
	if (roster->n == PLAN_PLACES) {
		errno = ENOSPC;
		return errorf(e,
			      "trees with more than %u different hosts, over all views and the "
			      "maps before; start the entry agent anew to forget those that are "
			      "gone",
			      PLAN_PLACES);
	}
	entry = memory_new(1, sizeof(*entry));
	entry->node = memory_copy(node);
	entry->index = (uint32_t)roster->n;
	roster->nodes = memory_room(roster->nodes, roster->n, sizeof(*roster->nodes));
	roster->nodes[roster->n++] = entry->node;
	HASH_ADD_KEYPTR(hh, roster->entries, entry->node, strlen(entry->node), entry);
	return 0;
}

static int place_number(struct roster *roster, struct plan_place *place, struct error *e)
{
	if (roster_add(roster, place->node, e) < 0)
		return -1;
	place->index = roster_find(roster, place->node)->index;
	for (size_t i = 0; i < place->n_children; i++) {
		if (place_number(roster, place->children[i], e) < 0)
			return -1;
	}
	return 0;
}

int roster_number(struct roster *roster, struct plan *plan, struct error *e)
{
	return place_number(roster, plan->root, e);
}

int roster_fill(struct roster *roster, const struct pathmap *map, struct error *e)
{
	const char *const *views;
	size_t n = pathmap_views(map, &views);
	int result = 0;

	for (size_t i = 0; i < n && result == 0; i++) {
		struct plan *plan;

		if (plan_make(map, views[i], &plan, e) < 0)
			return -1;
		result = roster_number(roster, plan, e);
		plan_free(plan);
	}
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
