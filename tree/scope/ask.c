/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks asks, finds leaves in them, and divides what a slow connection can carry in time among the
 * leaves behind it. */
#include "tree/scope/ask.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "tree/scope/gather.h"
#include "tree/data/tuple.h"
#include "tree/stage/stage.h"

int ask_check(const Evspace__Ask *ask, struct error *e)
{
	if (ask->n_only > PLAN_PLACES || ask->n_owing > PLAN_PLACES) {
		errno = EPROTO;
		return errorf(e, "an ask of %zu leaves that owes %zu; there are at most %u",
			      ask->n_only, ask->n_owing, PLAN_PLACES);
	}
	if (ask->count == 0 || ask->count > GATHER_WINDOW || ask->wave == 0 ||
	    ask->wave > UINT64_MAX - GATHER_WINDOW || ask->deadline_ms == 0) {
		errno = EPROTO;
		return errorf(e,
			      "an ask for %u waves from %lu within %u ms; 1 to %u waves from 1 on "
			      "within at least 1 ms are possible",
			      ask->count, (unsigned long)ask->wave, ask->deadline_ms,
			      GATHER_WINDOW);
	}
	return 0;
}

uint32_t ask_deadline(const Evspace__Ask *ask)
{
	return ask->deadline_ms < ASK_DEADLINE_MOST_MS ? ask->deadline_ms : ASK_DEADLINE_MOST_MS;
}

bool ask_names(const Evspace__Ask *ask, uint32_t leaf)
{
	for (size_t i = 0; i < ask->n_only; i++) {
		if (ask->only[i] == leaf)
			return true;
	}
	return ask->n_only == 0;
}

uint64_t ask_have(const Evspace__Ask *ask, uint32_t leaf)
{
	uint64_t have = ask->have;

	for (size_t i = 0; i < ask->n_owing; i++) {
		const Evspace__Owing *o = ask->owing[i];

		if (o->leaf == leaf && o->wave > 0 && o->wave - 1 < have)
			have = o->wave - 1;
	}
	return have;
}

/* ---- room ---- */

/* Tuples that a leaf may always bring in a wave, however slow the way up is. */
#define ROOM_LEAST 16u

/* Do the stages let fewer tuples go up than leaves read? */
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

size_t ask_sharing(const struct plan_place *place)
{
	return place_thins(place) ? 0 : plan_size(place).leaves;
}

uint32_t ask_room(size_t sharing, struct link *up, const Evspace__Ask *ask, double packed)
{
	size_t bytes = sharing > 0 ? link_carries(up, ask->deadline_ms / 2) : SIZE_MAX, room;

	if (bytes == SIZE_MAX)
		return ask->room;
	room = (size_t)((double)bytes / (sizeof(struct tuple) * packed)) / ask->count / sharing;
	room = room > ROOM_LEAST ? room : ROOM_LEAST;
	return ask->room && ask->room < room ? ask->room : (uint32_t)room;
}
