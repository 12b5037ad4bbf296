/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is not ready: the hosts of a part of a tree that have not opened a scope, and why. */
#ifndef EVSPACE_UNREADY_H
#define EVSPACE_UNREADY_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/plan/plan.h"
#include "tree/wire/wire.h"

/** A host that has not opened its part, and why. */
struct unready {
	char *node, *text;
	uint32_t code; /* of the error that it answered; 0: it has not */
};

/** Zeroed it is empty; unready_clear() frees all that is in it. */
struct unready_list {
	struct unready *items;
	size_t n;
};

void unready_clear(struct unready_list *list);

/** Add a host; the texts are copied. */
void unready_add(struct unready_list *list, const char *node, const char *text, uint32_t code);

/**
 * Make it what a child says of @place and what is below it. Nobody is named twice, nor whoever is
 * not below: so there is room for each once. Returns how often the child has named such all the
 * same.
 */
size_t unready_hear(struct unready_list *list, const struct plan_place *place,
		    const Evspace__Opened *opened);

#endif
