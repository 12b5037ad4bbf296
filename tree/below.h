/* SPDX-License-Identifier: BSD-3-Clause */
/* Below: the leaves of a part of a tree, and whether what comes from there is of these. */
#ifndef EVSPACE_BELOW_H
#define EVSPACE_BELOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pathmap/plan.h"
#include "tree/batch.h"
#include "tree/wire.h"

/** Plain data. */
struct below {
	uint32_t *leaves; /* place indexes, from the lowest */
	size_t n;
};

/** Find the leaves of @place and all that is below it. below_fini() frees. */
void below_init(struct below *below, const struct plan_place *place);
void below_fini(struct below *below);

bool below_has(const struct below *below, uint32_t leaf);

/**
 * Are all parts in @body, and all leaves that @answer calls missing, below? Otherwise a leaf that
 * is not goes to @stranger.
 */
bool below_has_all(const struct below *below, const Evspace__Answer *answer,
		   const struct batch *body, uint32_t *stranger);

#endif
