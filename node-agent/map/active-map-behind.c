/* SPDX-License-Identifier: BSD-3-Clause */
/* Remembers the nodes whose elements are still as a map before the active one says. */
#include "node-agent/map/active-map.h"

#include <stdlib.h>
#include <string.h>

#include "pathmap/base/memory.h"

static int name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

bool active_map_is_behind(const struct active_map *c, const char *node)
{
	const struct map_behind *b = &c->behind;

	return b->n && bsearch(&node, b->nodes, b->n, sizeof(*b->nodes), name_order) != NULL;
}

void map_behind_copy(struct map_behind *to, const struct map_behind *from)
{
	const struct pathmap_texts *since = &from->since;

	to->nodes = memory_new(from->n + 1, sizeof(*to->nodes));
	for (to->n = 0; to->n < from->n; to->n++)
		to->nodes[to->n] = memory_copy(from->nodes[to->n]);
	texts_set(&to->since, since->application, since->cluster, since->mapping);
}

void map_behind_fini(struct map_behind *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->nodes[i]);
	free(b->nodes);
	texts_fini(&b->since);
	*b = (struct map_behind){.n = 0};
}

void active_map_behind_set(struct active_map *c, const char *const *nodes, size_t n,
			   const struct pathmap_texts *since)
{
	struct map_behind now = {.nodes = memory_new(n + 1, sizeof(*now.nodes))};
	char **behind = now.nodes;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (pathmap_cluster(c->map, nodes[i]) && strcmp(nodes[i], c->node) != 0)
			behind[kept++] = memory_copy(nodes[i]);
	}
	n = kept;
	qsort(behind, n, sizeof(*behind), name_order);
	kept = 0;
	for (size_t i = 0; i < n; i++) {
		if (kept && strcmp(behind[kept - 1], behind[i]) == 0)
			free(behind[i]);
		else
			behind[kept++] = behind[i];
	}
	now.n = kept;
	if (kept && since)
		texts_set(&now.since, since->application, since->cluster, since->mapping);
	map_behind_fini(&c->behind);
	c->behind = now;
}
