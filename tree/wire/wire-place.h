/* SPDX-License-Identifier: BSD-3-Clause */
/* Plan parts to and from the wire. */
#ifndef EVSPACE_WIRE_PLACE_H
#define EVSPACE_WIRE_PLACE_H

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/wire/wire.pb-c.h"

/** A copy of a plan part as a message. Free it with wire_place_free(), which accepts NULL. */
Evspace__Place *wire_place_new(const struct plan_place *place);
void wire_place_free(Evspace__Place *place);

/**
 * A plan part from a received message, checked: at most 16 levels deep, every index below
 * NAME_PLACE_MAX and used once (so at most 16,384 places), valid levels and lengths, names without
 * control characters. NULL with EPROTO and @e. Free it with wire_plan_place_free(), which accepts
 * NULL.
 */
struct plan_place *wire_plan_place(const Evspace__Place *place, struct error *e);
void wire_plan_place_free(struct plan_place *place);

#endif
