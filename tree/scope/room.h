/* SPDX-License-Identifier: BSD-3-Clause */
/* Room: how many tuples each leaf below a host may bring in a wave. */
#ifndef EVSPACE_ROOM_H
#define EVSPACE_ROOM_H

#include <stdint.h>

#include "pathmap/plan/plan.h"
#include "tree/link/link.h"
#include "tree/wire/wire.h"

/**
 * As many as @ask says (0: any number), or fewer where the way @up is slow: so many that what it
 * has to carry of those below @place is there within half of the deadline, but a few at least.
 * What was read already comes as it is. Where stages make less of what is read, what goes up says
 * nothing of how much may be read: as @ask says.
 */
uint32_t room_of(const struct plan_place *place, struct link *up, const Evspace__Ask *ask);

#endif
