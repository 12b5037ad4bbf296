/* SPDX-License-Identifier: BSD-3-Clause */
/* What stages leave of the records of a wave, by their kinds. */
#include "pathmap/cost/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pathmap/model/pattern.h"

/* What records take on the wire (tree/data/run.h): a tuple with its number; others with a header.
 */
#define NEWEST_BYTES 48.0
#define RUN_BYTES    56.0
#define PART_BYTES   120.0

static size_t channels_reached(const struct plan *plan, const struct pathmap *map,
			       const char *thread)
{
	const char *const *names;
	size_t n = pathmap_channels(&names), reached = 0;

	for (size_t i = 0; i < n; i++) {
		char name[NAME_BYTES];
		bool matches = false;

		snprintf(name, sizeof(name), "%s/t0/%s", thread, names[i]);
		for (size_t j = 0; j < plan->n_select && !matches; j++)
			matches = pattern_match(plan->select[j], name);
		reached += matches && pathmap_recording(map, names[i])->collected;
	}
	return reached;
}

struct flow flow_read(const struct plan *plan, const struct plan_place *place,
		      const struct pathmap *map, const struct placement *placement)
{
	const struct node *node = cluster_map_node(&map->clusters, place->node);
	struct flow flow = {0};
	char name[NAME_BYTES];

	for (size_t i = placement->first[node->index]; i < placement->first[node->index + 1]; i++) {
		snprintf(name, sizeof(name), "/%s/%s/rank%u", place->cluster, place->node,
			 placement->ranks[i]);
		flow.below[LEVEL_ELEMENT] += (double)channels_reached(plan, map, name);
		flow.below[LEVEL_THREAD]++;
	}
	if (flow.below[LEVEL_THREAD] <= 0) {
		double threads = node == map->mapping.everywhere && pathmap_ranks(map) > 0
					 ? pathmap_ranks(map)
					 : 1;

		snprintf(name, sizeof(name), "/%s/%s/rank0", place->cluster, place->node);
		flow.below[LEVEL_ELEMENT] = threads * (double)channels_reached(plan, map, name);
		flow.below[LEVEL_THREAD] = threads;
	}
	flow.below[LEVEL_NODE] = flow.below[LEVEL_CLUSTER] = flow.below[LEVEL_ALL] = 1;
	flow.records = flow.below[LEVEL_ELEMENT];
	flow.bytes = PART_BYTES +
		     flow.records * (plan->reading == READ_LATEST ? NEWEST_BYTES : RUN_BYTES);
	return flow;
}

void flow_join(struct flow *flow, const struct flow *other)
{
	for (size_t i = 0; i < LEVEL_CLUSTER; i++)
		flow->below[i] += other->below[i];
	for (size_t i = LEVEL_CLUSTER; i < LEVEL_COUNT; i++)
		flow->below[i] =
			other->below[i] > flow->below[i] ? other->below[i] : flow->below[i];
	flow->records += other->records;
	flow->bytes += other->bytes;
}

void flow_stage(struct flow *flow, const struct plan_stage *stage)
{
	double records = flow->below[stage->level] * stage->traits.records;

	if (records <= 0 || records > flow->records)
		return;
	flow->records = records;
	/* Parts stay, with a mark of who mixed them. */
	flow->bytes = records * stage->traits.bytes + flow->below[LEVEL_NODE] * PART_BYTES;
}
