/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of each node: the mapping turned around, to be shown. */
#ifndef EVSPACE_PLACEMENT_H
#define EVSPACE_PLACEMENT_H

#include <stddef.h>

#include "pathmap/model/parts.h"

/** Ranks sorted by node; those of node i are from @first[i] to before @first[i + 1]. */
struct placement {
	unsigned *ranks;
	size_t *first;
};

/** Sort the ranks of @map by node. */
void placement_init(struct placement *placement, const struct pathmap *map);

/** Free what it owns. */
void placement_fini(struct placement *placement);

/** The ranks of the node as a list ("0-7,12", "all", or "" for none), the caller's to free(). */
char *placement_text(const struct placement *placement, const struct pathmap *map,
		     const struct node *node);

#endif
