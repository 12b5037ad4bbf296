/* SPDX-License-Identifier: BSD-3-Clause */
/* Pulses: what every thread was last seen at, kept from wave to wave. */
#ifndef EVSPACE_PULSES_H
#define EVSPACE_PULSES_H

#include "consumers/evspace-client.h"
#include "consumers/stall.h"

/** All threads: first those that are in the last wave, by world, rank and name, then those whose
 * hosts are missing in it, as they were last seen. Usable when zeroed. */
struct pulses {
	struct pulse *items;
	size_t n, fresh;
	struct pulse *before; /* the same after the wave before, for comparison */
	size_t n_before;
	size_t room, room_before;
};

void pulses_fini(struct pulses *pulses);

/** A new wave begins. */
void pulses_begin(struct pulses *pulses);

/** An event of the wave: of a thread, or of something below it ("/cluster/node/rank/thread/p2p").
 */
void pulses_add(struct pulses *pulses, const struct evspace_event *event, uint64_t wave);

/**
 * All events of the wave were added. Of several events of a thread the newest counts: one under
 * way, else the one that ended last. @keep: threads that are not in the wave stay as they were.
 * What stall_find() fills in is reset.
 */
void pulses_end(struct pulses *pulses, bool keep);

#endif
