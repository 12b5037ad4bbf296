/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes elements that the map has agents make, and removes those that it does not have any more. */
#ifndef EVSPACE_MADE_CARRY_H
#define EVSPACE_MADE_CARRY_H

#include "pathmap/base/error.h"
#include "node-agent/store/store.h"

/**
 * Of the elements in @text (pathmap/plan/made.h), from the entry's agent perhaps, make those of
 * @node that are missing, in the base of @store; and if it @removes, remove those that its agent
 * has made, that are not in @text any more, and that nobody has open. Returns 0, or -1 with the
 * last fault in @e.
 */
int made_keep(const struct store *store, const char *node, const char *text, bool removes,
	      struct error *e);

#endif
