/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan while it is made: the sites of nodes, and which stages run there. */
#ifndef EVSPACE_PLAN_PRIVATE_H
#define EVSPACE_PLAN_PRIVATE_H

#include "pathmap/model/parts.h"
#include "pathmap/plan/plan.h"
#include "pathmap/plan/route.h"

/** A node's state while a plan is made. */
struct plan_site {
	struct plan_place *place; /* NULL: not in the plan */
	struct plan_site *parent;
	size_t depth;
	bool head; /* the lowest place that has all leaves of some cluster below it */
};

/** A plan while it is made. */
struct plan_builder {
	const struct pathmap *map;
	const struct view *view;
	struct plan *plan;
	struct route route;
	struct plan_site *sites; /* by node index */
};

/** Append copies of the stages that the mapping puts on hosts of the level @place. */
void plan_stages_copy(const struct plan_builder *builder, enum level place,
		      struct plan_stage **stages, size_t *n);

/** Set the joined stages of all sites, when all places are made: where a cluster is whole, and at
 * the entry. */
void plan_stages_joined(struct plan_builder *builder);

/** Then the early ones. */
void plan_stages_early(struct plan_builder *builder);

#endif
