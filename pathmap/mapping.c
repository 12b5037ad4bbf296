/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping as data: where ranks are, and what the tree of each view looks like. */
#include "pathmap/mapping.h"

#include <stdlib.h>
#include <string.h>

static void tree_fini(struct tree *tree)
{
	free(tree->drawn);
	free(tree->heads);
}

void mapping_fini(struct mapping *mapping)
{
	for (size_t i = 0; i < mapping->n_views; i++) {
		free(mapping->views[i].view);
		tree_fini(&mapping->views[i].tree);
	}
	tree_fini(&mapping->tree);
	free(mapping->views);
	free(mapping->ranks);
	*mapping = (struct mapping){0};
}

const struct node *mapping_rank_node(const struct mapping *mapping, unsigned rank)
{
	if (mapping->everywhere != NULL)
		return mapping->everywhere;
	return rank < mapping->n_ranks ? mapping->ranks[rank] : NULL;
}

static const struct tree *view_tree(const struct mapping *mapping, const char *view)
{
	for (size_t i = 0; i < mapping->n_views; i++) {
		if (strcmp(mapping->views[i].view, view) == 0)
			return &mapping->views[i].tree;
	}
	return NULL;
}

const struct tree *mapping_tree(const struct mapping *mapping, const char *view)
{
	const struct tree *tree = view_tree(mapping, view);

	return tree != NULL && tree->said ? tree : &mapping->tree;
}

const struct node *mapping_head(const struct mapping *mapping, const char *view,
				const struct cluster *cluster)
{
	const struct tree *trees[] = {view_tree(mapping, view), &mapping->tree};

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		for (size_t j = 0; trees[i] != NULL && j < trees[i]->n_heads; j++) {
			if (trees[i]->heads[j]->cluster == cluster)
				return trees[i]->heads[j];
		}
	}
	return NULL;
}
