/* SPDX-License-Identifier: BSD-3-Clause */
/* An ask: which waves of which leaves are wanted, as received, and how many tuples each leaf may
 * bring. */
#ifndef EVSPACE_ASK_H
#define EVSPACE_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "tree/wire/wire.h"
#include "pathmap/plan/plan.h"
#include "tree/link/link.h"

/** Check what scope_ask() requires of every ask. Returns 0, or -1 with EPROTO and @e. */
int ask_check(const Evspace__Ask *ask, struct error *e);

/** Most time in ms that a wave may wait for its leaves, which is how long their data are held. */
#define ASK_DEADLINE_MOST_MS 60000u

/** Weights of consumers (Open); others count as the nearest of these, or as 1. */
#define ASK_WEIGHT_LEAST 0.01
#define ASK_WEIGHT_MOST	 100.0

/** How long its waves may wait, in ms, at most ASK_DEADLINE_MOST_MS. */
uint32_t ask_deadline(const Evspace__Ask *ask);

/** Is this leaf asked? */
bool ask_names(const Evspace__Ask *ask, uint32_t leaf);

/** The last wave that this leaf may forget: the last one that the consumer has, less the waves that
 * it still lacks of this leaf. */
uint64_t ask_have(const Evspace__Ask *ask, uint32_t leaf);

/** The leaves below @place that share the way up for all that they read; 0: stages reduce tuples,
 * so that the way up says nothing about how many may be read. Goes through all places. */
size_t ask_sharing(const struct plan_place *place);

/**
 * How many tuples of this wave a leaf may bring: @ask's number (0: any), or fewer if the way @up is
 * slow, but always a few: those of all leaves that share it (ask_sharing()) shall arrive within
 * half of the deadline. Tuples that were read already do not count. @packed: bytes of answers, as
 * part of their bytes with plain tuples.
 */
uint32_t ask_room(size_t sharing, struct link *up, const Evspace__Ask *ask, double packed);

#endif
