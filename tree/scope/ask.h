/* SPDX-License-Identifier: BSD-3-Clause */
/* An ask: which waves of which leaves are wanted, as it comes over the wire, and how many tuples
 * each leaf may bring. */
#ifndef EVSPACE_ASK_H
#define EVSPACE_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/wire/wire.h"
#include "pathmap/plan/plan.h"
#include "tree/link/link.h"

/** Only what scope_ask() would say of an ask that no scope can answer. */
int ask_check(const Evspace__Ask *ask, struct error *e);

/** How long a wave may wait for its leaves at most, in ms: what is there already is held so long.
 */
#define ASK_DEADLINE_MOST_MS 60000u

/** How long its waves may wait, in ms: as it says, but no longer than that. */
uint32_t ask_deadline(const Evspace__Ask *ask);

/** Is this leaf asked? */
bool ask_names(const Evspace__Ask *ask, uint32_t leaf);

/** What this leaf may forget: all that the consumer has, but for what it still lacks of this leaf.
 */
uint64_t ask_have(const Evspace__Ask *ask, uint32_t leaf);

/**
 * As many as @ask says (0: any number), or fewer where the way @up is slow: so many that what it
 * has to carry of those below @place is there within half of the deadline, but a few at least.
 * What was read already comes as it is. Where stages make less of what is read, what goes up says
 * nothing of how much may be read: as @ask says.
 */
uint32_t ask_room(const struct plan_place *place, struct link *up, const Evspace__Ask *ask);

#endif
