/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the places of a part of a tree. */
#include "pathmap/plan/plan.h"

struct plan_size plan_size(const struct plan_place *place)
{
	struct plan_size size = {1, place->leaf}, below;

	for (size_t i = 0; i < place->n_children; i++) {
		below = plan_size(place->children[i]);
		size.places += below.places;
		size.leaves += below.leaves;
	}
	return size;
}
