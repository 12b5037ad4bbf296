/* SPDX-License-Identifier: BSD-3-Clause */
/* Thread states: the last known event of every thread, kept from wave to wave. */
#ifndef EVSPACE_THREAD_STATES_H
#define EVSPACE_THREAD_STATES_H

#include "consumers/client/evspace-client.h"
#include "consumers/watch/stall.h"

/** All threads: first those in the last wave, by world, rank and name, then those whose hosts are
 * missing from it, in their last known state. Usable when zeroed. */
struct thread_states {
	struct thread_state *items;
	size_t n, fresh;
	struct thread_state *before; /* after the wave before, for comparison */
	size_t n_before;
	size_t room, room_before;
};

void thread_states_fini(struct thread_states *thread_states);

/** What @event says of its thread, as of its wave @wave. */
void thread_state_of(struct thread_state *thread_state, const struct evspace_event *event,
		     uint64_t wave);

/** Begin a new wave. */
void thread_states_begin(struct thread_states *thread_states);

/** Add an event of the wave: of a thread, or below it ("/cluster/node/rank/thread/p2p"). Returns
 * it, valid until the next call. */
const struct thread_state *thread_states_add(struct thread_states *thread_states,
					     const struct evspace_event *event, uint64_t wave);

/**
 * All events of the wave are added. Of several events of a thread the newest counts: one under way,
 * else the one that ended last. @keep: threads that are not in the wave keep their state. The
 * fields of stall_find() are reset.
 */
void thread_states_end(struct thread_states *thread_states, bool keep);

#endif
