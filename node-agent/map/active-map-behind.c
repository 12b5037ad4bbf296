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
	return c->n_behind &&
	       bsearch(&node, c->behind, c->n_behind, sizeof(*c->behind), name_order) != NULL;
}

void active_map_behind_fini(struct active_map *c)
{
	for (size_t i = 0; i < c->n_behind; i++)
		free(c->behind[i]);
	free(c->behind);
	texts_fini(&c->since);
	c->behind = NULL;
	c->n_behind = 0;
}

void active_map_behind_set(struct active_map *c, const char *const *nodes, size_t n,
			   const struct pathmap_texts *since)
{
	struct pathmap_texts texts = {NULL, NULL, NULL};
	char **behind = memory_new(n + 1, sizeof(*behind));
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
	if (kept && since)
		texts_set(&texts, since->application, since->cluster, since->mapping);
	active_map_behind_fini(c);
	c->behind = behind;
	c->n_behind = kept;
	c->since = texts;
}
