/* SPDX-License-Identifier: BSD-3-Clause */
/* Flow: how many records come up a gather tree in a wave, and what stages make of them. */
#ifndef EVSPACE_FLOW_H
#define EVSPACE_FLOW_H

#include <stddef.h>

#include "pathmap/model/parts.h"
#include "pathmap/plan/plan.h"

/** What passes one point of a tree in one wave, and what lies below that point. */
struct flow {
	double below[LEVEL_COUNT]; /* things of each level: elements, threads, nodes, clusters */
	double records;
	double bytes; /* of them, with headers */
};

/**
 * What the leaf @place reads in a wave: a record of each element that the view selects, and of
 * streams one, too: how many events a program makes, no map says. Where the map leaves open which
 * ranks there are, one on each host is counted.
 */
struct flow flow_read(const struct plan *plan, const struct plan_place *place,
		      const struct pathmap *map, const struct placement *placement);

/** Join what another host brings. Two parts of one cluster are one cluster. */
void flow_join(struct flow *flow, const struct flow *other);

/**
 * What a stage leaves of it, by its traits. Where no map says what it will drop (a filter), all.
 */
void flow_stage(struct flow *flow, const struct plan_stage *stage);

#endif
