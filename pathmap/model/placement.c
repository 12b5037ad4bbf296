/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of each node: the mapping turned around, to be shown. */
#include "pathmap/model/placement.h"

#include <stdio.h>
#include <stdlib.h>

#include "pathmap/base/memory.h"

void placement_init(struct placement *placement, const struct pathmap *map)
{
	const struct mapping *mapping = &map->mapping;
	size_t n_nodes = map->clusters.n_nodes;
	size_t *next = memory_new(n_nodes + 1, sizeof(*next));

	placement->first = memory_new(n_nodes + 1, sizeof(*placement->first));
	placement->ranks = memory_new(mapping->n_ranks, sizeof(*placement->ranks));
	for (size_t i = 0; i < mapping->n_ranks; i++) {
		if (mapping->ranks[i] != NULL)
			placement->first[mapping->ranks[i]->index + 1]++;
	}
	for (size_t i = 0; i < n_nodes; i++) {
		placement->first[i + 1] += placement->first[i];
		next[i + 1] = placement->first[i + 1];
	}
	for (size_t i = 0; i < mapping->n_ranks; i++) {
		if (mapping->ranks[i] != NULL)
			placement->ranks[next[mapping->ranks[i]->index]++] = (unsigned)i;
	}
	free(next);
}

void placement_fini(struct placement *placement)
{
	free(placement->first);
	free(placement->ranks);
	*placement = (struct placement){0};
}

char *placement_text(const struct placement *placement, const struct pathmap *map,
		     const struct node *node)
{
	size_t end = placement->first[node->index + 1], last;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	if (map->mapping.everywhere == node)
		return memory_copy("all");
	out = open_memstream(&text, &size);
	if (out == NULL)
		abort();
	for (size_t i = placement->first[node->index]; i < end; i = last + 1) {
		const char *comma = i > placement->first[node->index] ? "," : "";

		last = i;
		while (last + 1 < end && placement->ranks[last + 1] == placement->ranks[last] + 1)
			last++;
		fprintf(out, "%s%u", comma, placement->ranks[i]);
		if (last > i)
			fprintf(out, "-%u", placement->ranks[last]);
	}
	fclose(out);
	return text;
}
