/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping as data: the nodes of ranks, and the shape of each view's tree. */
#include "pathmap/model/mapping.h"

#include <stdlib.h>
#include <string.h>

static void tree_fini(struct tree *tree)
{
	free(tree->drawn);
	free(tree->heads);
	free(tree->alternates);
}

void mapping_fini(struct mapping *mapping)
{
	for (size_t i = 0; i < mapping->n_views; i++) {
		free(mapping->views[i].view);
		tree_fini(&mapping->views[i].tree);
	}
	for (size_t i = 0; i < mapping->n_steerings; i++) {
		free(mapping->steerings[i].view);
		free(mapping->steerings[i].leads);
	}
	free(mapping->steerings);
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

enum level mapping_stage_place(const struct mapping *mapping, const char *view, enum level level)
{
	const struct tree *trees[] = {view_tree(mapping, view), &mapping->tree};
	enum level place = LEVEL_NODE;

	for (unsigned l = 0; l <= (unsigned)level; l++) {
		enum level own = l < LEVEL_NODE ? LEVEL_NODE : (enum level)l;

		for (size_t i = sizeof(trees) / sizeof(trees[0]); i-- > 0;) {
			if (trees[i] != NULL && trees[i]->at[l])
				own = (enum level)trees[i]->at[l];
		}
		place = own > place ? own : place;
	}
	return place;
}

unsigned mapping_concurrency(const struct mapping *mapping, const char *view)
{
	const struct tree *tree = view_tree(mapping, view);

	return tree != NULL && tree->concurrency_said ? tree->concurrency
						      : mapping->tree.concurrency;
}

const struct node *mapping_alternate(const struct mapping *mapping, const char *view,
				     const struct node *node, size_t i)
{
	const struct tree *trees[] = {view_tree(mapping, view), &mapping->tree};

	for (size_t t = 0; t < sizeof(trees) / sizeof(trees[0]); t++) {
		for (size_t j = 0; trees[t] != NULL && j < trees[t]->n_alternates; j++) {
			if (trees[t]->alternates[j].instead_of == node && i-- == 0)
				return trees[t]->alternates[j].by;
		}
	}
	return NULL;
}
