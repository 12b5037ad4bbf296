/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists leaves of a place, in order, and looks answers up in that. */
#include "tree/below.h"

#include <stdlib.h>

#include "pathmap/memory.h"

static size_t place_leaves(const struct plan_place *p, uint32_t *out)
{
	size_t n = 0;

	if (p->leaf) {
		if (out)
			out[n] = p->index;
		n++;
	}
	for (size_t i = 0; i < p->n_children; i++)
		n += place_leaves(p->children[i], out ? out + n : NULL);
	return n;
}

static int leaf_order(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

void below_init(struct below *below, const struct plan_place *place)
{
	below->n = place_leaves(place, NULL);
	below->leaves = memory_new(below->n + 1, sizeof(*below->leaves));
	place_leaves(place, below->leaves);
	qsort(below->leaves, below->n, sizeof(*below->leaves), leaf_order);
}

void below_fini(struct below *below)
{
	free(below->leaves);
	*below = (struct below){NULL, 0};
}

bool below_has(const struct below *below, uint32_t leaf)
{
	return bsearch(&leaf, below->leaves, below->n, sizeof(leaf), leaf_order) != NULL;
}

bool below_has_all(const struct below *below, const Evspace__Answer *answer,
		   const struct batch *body, uint32_t *stranger)
{
	struct batch_cursor c = {0};
	struct run_view run;

	for (size_t i = 0; i < answer->n_missing; i++) {
		*stranger = answer->missing[i]->leaf;
		if (!below_has(below, *stranger))
			return false;
	}
	while (batch_next_part(body, &c, &run)) {
		*stranger = run.run->element;
		if (!(run.run->flags & RUN_FOLD) && !below_has(below, *stranger))
			return false;
	}
	return true;
}
