/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages of others: who may get what they make, and the end of a scope by a fault of one. */
#ifndef EVSPACE_STAGE_FAULT_H
#define EVSPACE_STAGE_FAULT_H

#include <stdbool.h>

#include "pathmap/base/error.h"
#include "pathmap/plan/plan.h"
#include "tree/link/link.h"
#include "tree/stage/stage.h"

/** Can @up take what the stages of @place and below make? Returns 0, or -1 with EPROTO and @e. */
int stage_fault_expect(const struct plan_place *place, const struct link *up, struct error *e);

/** Can @down read the samples that @open may ask for? Returns 0, or -1 with EPROTONOSUPPORT and @e.
 */
int stage_fault_samples(const Evspace__Open *open, const struct link *down, struct error *e);

/** Has a stage of @chain a fault? It then goes into @e. */
bool stage_fault_is(const struct chain *chain, struct error *e);

#endif
