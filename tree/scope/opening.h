/* SPDX-License-Identifier: BSD-3-Clause */
/* An opening: which hosts of a part of a tree have not opened a scope, and why; reported upstream
 * with the scope's leaves. */
#ifndef EVSPACE_OPENING_H
#define EVSPACE_OPENING_H

#include <stddef.h>
#include <stdint.h>

#include "pathmap/plan/plan.h"
#include "tree/wire/wire.h"
#include "tree/link/link.h"

/** A host that has not opened its part, and why. */
struct unready {
	char *node, *text;
	uint32_t code; /* of the error that it answered; 0: it has not answered */
};

/** Empty if zeroed; free with unready_clear(). */
struct unready_list {
	struct unready *items;
	size_t n;
};

void unready_clear(struct unready_list *list);

/** Add a host; the texts are copied. */
void unready_add(struct unready_list *list, const char *node, const char *text, uint32_t code);

/** Replace the list by what a child says of @place and below. Skips hosts that are named twice or
 * are not below, so the list is bounded. Returns how many were skipped. */
size_t unready_hear(struct unready_list *list, const struct plan_place *place,
		    const Evspace__Opened *opened);

/** Hosts that have not opened their parts, as messages. Begin with {0}. */
struct opening {
	Evspace__Unready **unready;
	size_t n_unready;
};

/** Add one: a failover_report whose argument is the opening. The texts are copied. */
void opening_unready(void *opening, const struct unready *who);

/** Send `Opened` of the scope @number at @place to @up, and free the list. */
void opening_say(struct opening *opening, struct link *up, uint32_t number,
		 const Evspace__Open *open, const struct plan_place *place);

#endif
