/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies the innermost region of a thread out of a segment, while the thread goes on. */
#include "node-agent/segment/segment-region.h"

#include <stdbool.h>

#include "tree/data/op-table.h"

/* The words of a region or phase are stored one by one: what changes under us is another time's. */
int segment_region(const struct segment_thread *thread, struct tuple *out)
{
	const struct segment_user *user = &thread->user;
	uint64_t depth = atomic_load_explicit(&user->depth, memory_order_acquire), label, since;
	bool in_region = depth > 0 && depth <= SEGMENT_REGIONS;
	const _Atomic uint64_t *words = in_region ? &user->regions[depth - 1].label : &user->phase;

	label = atomic_load_explicit(words, memory_order_relaxed);
	since = atomic_load_explicit(in_region ? &user->regions[depth - 1].since
					       : &user->phase_since,
				     memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	if (!label || !since || depth > SEGMENT_REGIONS ||
	    atomic_load_explicit(&user->depth, memory_order_relaxed) != depth ||
	    atomic_load_explicit(words, memory_order_relaxed) != label)
		return 0;
	*out = (struct tuple){
		.start = since,
		.peer = TUPLE_NO_PEER,
		.seq_or_tag = (uint32_t)label,
		.op = in_region ? OP_EVSPACE_REGION : OP_EVSPACE_PHASE,
		.flags = TUPLE_RUNNING | TUPLE_REGION,
	};
	return 1;
}
