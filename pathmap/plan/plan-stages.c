/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts the stages of a view on the hosts of its plan. */
#include "pathmap/base/memory.h"
#include "pathmap/plan/plan-private.h"

static struct plan_site *site_join(struct plan_site *a, struct plan_site *b)
{
	while (a != b) {
		if (a->depth >= b->depth)
			a = a->parent;
		else
			b = b->parent;
	}
	return a;
}

static void stage_copy(struct plan_stage **stages, size_t *n, const struct plan_stage *stage)
{
	*stages = memory_room(*stages, *n, sizeof(**stages));
	(*stages)[(*n)++] = (struct plan_stage){
		.level = stage->level,
		.kind = memory_copy(stage->kind),
		.args = memory_copy(stage->args),
		.traits = stage->traits,
	};
}

void plan_stages_copy(const struct plan_builder *builder, enum level place,
		      struct plan_stage **stages, size_t *n)
{
	const struct view *view = builder->view;

	for (size_t i = 0; i < view->n_stages; i++) {
		const struct plan_stage *stage = &view->stages[i];

		if (stage->level > builder->plan->top ||
		    mapping_stage_place(&builder->map->mapping, view->name, stage->level) != place)
			continue;
		stage_copy(stages, n, stage);
	}
}

/* Nodes that fetch may have elements of any cluster, so the head must be above them, too. */
static struct plan_site *head_with_mirrors(const struct plan_builder *builder,
					   struct plan_site *head)
{
	for (size_t i = 0; i < builder->map->clusters.n_nodes; i++) {
		if (builder->route.mirrors[i])
			head = site_join(head, &builder->sites[i]);
	}
	return head;
}

/* Cluster stages run on the host that joins a whole cluster. If that is below the one of another
 * cluster, they run on the upper one, where a stage could not tell what is folded already. */
void plan_stages_joined(struct plan_builder *builder)
{
	const struct cluster_map *clusters = &builder->map->clusters;

	for (size_t i = 0; i < clusters->n_clusters; i++) {
		const struct cluster *cluster = clusters->clusters[i];
		struct plan_site *head = NULL;

		for (size_t j = 0; j < cluster->n_nodes; j++) {
			struct plan_site *site = &builder->sites[cluster->nodes[j]->index];

			if (site->place != NULL && site->place->leaf)
				head = head != NULL ? site_join(head, site) : site;
		}
		if (head != NULL)
			head_with_mirrors(builder, head)->head = true;
	}
	for (size_t i = 0; i < clusters->n_nodes; i++) {
		const struct plan_site *site = &builder->sites[i], *above;

		if (!site->head)
			continue;
		above = site->parent;
		while (above != NULL && !above->head)
			above = above->parent;
		if (above == NULL)
			plan_stages_copy(builder, LEVEL_CLUSTER, &site->place->joined,
					 &site->place->n_joined);
	}
	plan_stages_copy(builder, LEVEL_ALL, &builder->plan->root->joined,
			 &builder->plan->root->n_joined);
}

/* A host that only joins answers, below the host of a stage that folds, runs it first: so what it
 * passes on does not grow with what is below it. Not if the mapping has put the stage higher up,
 * away from these hosts. */
void plan_stages_early(struct plan_builder *builder)
{
	for (size_t i = 0; i < builder->map->clusters.n_nodes; i++) {
		const struct plan_site *site = &builder->sites[i], *above = site->parent;
		struct plan_place *place = site->place;
		const struct plan_stage *stage;

		if (place == NULL || place->n_joined > 0 || place->n_children + place->leaf < 2)
			continue;
		while (above != NULL && (above->place->n_joined == 0 || above->place->early))
			above = above->parent;
		stage = above != NULL ? &above->place->joined[0] : NULL;
		place->early = stage != NULL && stage->traits.folds &&
			       mapping_stage_place(&builder->map->mapping, builder->view->name,
						   stage->level) == stage->level;
		if (place->early)
			stage_copy(&place->joined, &place->n_joined, stage);
	}
}
