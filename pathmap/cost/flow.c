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

/* Classes of operations that a thread uses, where a stage splits by them; bins that are used. */
#define CLASSES_USUAL 4.0
#define BINS_USUAL    12.0

/* What a stage of this kind leaves for each thing of its level. */
static const struct kind {
	const char *name;
	double records, bytes; /* of each thing, of each record */
} kinds[] = {
	{"reduce", 1, 72},
	{"counts", CLASSES_USUAL, 56},
	{"histogram", BINS_USUAL, 34},
	{"matrix", CLASSES_USUAL, 34},
};

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

/* The first number in @args, which says how many `slowest` keeps. */
static double args_count(const char *args)
{
	const char *digits = args + strcspn(args, "0123456789");
	double n = strtod(digits, NULL);

	return n >= 1 ? n : 10;
}

void flow_stage(struct flow *flow, const struct plan_stage *stage)
{
	double things = flow->below[stage->level], records = 0, bytes = RUN_BYTES;
	/* Parts stay, with a mark of who mixed them. */
	double parts = flow->below[LEVEL_NODE] * PART_BYTES;

	if (strcmp(stage->kind, "slowest") == 0)
		records = things * args_count(stage->args);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, stage->kind) != 0)
			continue;
		records = things * kinds[i].records;
		bytes = kinds[i].bytes;
		if (strstr(stage->args, "by op") != NULL || strstr(stage->args, "by channel"))
			records *= CLASSES_USUAL;
	}
	if (records <= 0 || records > flow->records)
		return;
	flow->records = records;
	flow->bytes = records * bytes + parts;
}
