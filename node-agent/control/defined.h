/* SPDX-License-Identifier: BSD-3-Clause */
/* Defined views: who may have views of their own open, by the map, and how many. */
#ifndef EVSPACE_DEFINED_H
#define EVSPACE_DEFINED_H

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/wire/wire.h"

struct link;
struct peer;
struct session_host;

/** Does the peer have the role that @map wants of who defines views? Who may not at all, the plan
 * says. Returns 0, or -1 with EACCES and @e. */
int defined_role(const struct pathmap *map, const struct peer *peer, struct error *e);

/**
 * May the peer of @link open the view that it defines in @open, by its role and by how many of its
 * views are open here? What may be in one, the plan says. Returns 0, or -1 with errno and @e.
 */
int defined_may(const struct session_host *host, const struct link *link, const Evspace__Open *open,
		struct error *e);

/** Most waves under way in the view of @plan, by @map; 0: any number. */
uint32_t defined_window(const struct pathmap *map, const struct plan *plan);

#endif
