/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides what a slow connection carries in time among the leaves that are to bring it. */
#include "tree/scope/room.h"

#include <stdbool.h>
#include <stddef.h>

#include "tree/data/tuple.h"
#include "tree/stage/stage.h"

/* Tuples that a leaf may bring in a wave at least, however slow the way up is. */
#define ROOM_LEAST 16u

/* Do fewer tuples go up than leaves read? */
static bool stages_thin(const struct plan_stage *stages, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct stage_ops *ops = stage_find(stages[i].kind);

		if (!ops || !ops->traits.keeps)
			return true;
	}
	return false;
}

static bool place_thins(const struct plan_place *root)
{
	PLAN_FOREACH (walk, root) {
		const struct plan_place *p = walk.place;

		if (stages_thin(p->local, p->n_local) || stages_thin(p->joined, p->n_joined))
			return true;
	}
	return false;
}

uint32_t room_of(const struct plan_place *place, struct link *up, const Evspace__Ask *ask)
{
	size_t bytes = link_carries(up, ask->deadline_ms / 2), room;
	size_t leaves = plan_size(place).leaves;

	if (bytes == SIZE_MAX || leaves == 0 || place_thins(place))
		return ask->room;
	room = bytes / sizeof(struct tuple) / ask->count / leaves;
	room = room > ROOM_LEAST ? room : ROOM_LEAST;
	return ask->room && ask->room < room ? ask->room : (uint32_t)room;
}
