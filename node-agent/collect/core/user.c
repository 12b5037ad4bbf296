/* SPDX-License-Identifier: BSD-3-Clause */
/* Records regions, phases, iterations and blocks as tuples, and keeps open ones in the thread's
 * entry. */
#include "node-agent/collect/core/member.h"

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/core/hooks.h"
#include "node-agent/segment/segment-table.h"
#include "tree/data/op-table.h"

#ifndef EVSPACE_DOOR
struct evspace_calls evspace_calls_1;
#endif

static void words_store(_Atomic uint64_t *to, uint64_t value)
{
	atomic_store_explicit(to, value, memory_order_relaxed);
}

static uint64_t words_load(_Atomic uint64_t *from)
{
	return atomic_load_explicit(from, memory_order_relaxed);
}

/* Threads beyond the reserve share an entry that is never read, so nothing is kept for them. */
static struct segment_user *user_enter(struct collect_caller caller)
{
	if (collect_enter_any(caller, &collect_none, CHANNEL_USER) != COLLECT_RECORD)
		return NULL;
	if (collect_self.index != SEGMENT_NO_THREAD)
		return &collect_self.entry->user;
	collect_leave(caller);
	return NULL;
}

/* Now, or 0 in a mode without a clock. */
static uint64_t user_now(void)
{
	struct tuple t = {.op = OP_NONE};

	collect_stamp(&t);
	t.start = t.end;
	return collect_started(&t);
}

/* Writes a tuple from @since until now; @since is 0 if the mode had no clock then. */
static void user_leave(struct collect_caller caller, uint16_t op, uint32_t tag, uint64_t since,
		       uint64_t now)
{
	struct tuple t;

	collect_fill(&t, op, 0, TUPLE_NO_PEER, tag, 0);
	t.start = since && since <= now ? since : now;
	t.end = now;
	collect_end(caller, &t, &collect_none, CHANNEL_USER);
}

/* The depth of the innermost open region with this label, 0: there is none. */
static uint64_t region_find(struct segment_user *user, uint32_t label)
{
	uint64_t depth = words_load(&user->depth);

	if (depth > SEGMENT_REGIONS)
		depth = SEGMENT_REGIONS;
	while (depth && words_load(&user->regions[depth - 1].label) != label)
		depth--;
	return depth;
}

/* The thread's entry, and the label of a name; NULL: nothing is recorded. */
static struct segment_user *region_enter(struct collect_caller caller, const char *name,
					 size_t length, uint32_t *label)
{
	struct segment_user *user = user_enter(caller);

	if (user)
		*label = segment_label_make(collect_self.segment, name, length);
	return user;
}

/* The region at this depth ends, and those in it; 0: none does. */
static void region_end(struct collect_caller caller, struct segment_user *user, uint64_t depth)
{
	uint64_t label, since;

	if (depth == 0) {
		collect_leave(caller);
		return;
	}
	label = words_load(&user->regions[depth - 1].label);
	since = words_load(&user->regions[depth - 1].since);
	words_store(&user->depth, depth - 1);
	user_leave(caller,
		   label & SEGMENT_REGION_FUNCTION ? OP_EVSPACE_FUNCTION : OP_EVSPACE_REGION,
		   (uint32_t)label, since, user_now());
}

static void user_region(const char *name, size_t length, int begin)
{
	const struct collect_caller caller = COLLECT_CALLER;
	uint32_t label;
	struct segment_user *user = region_enter(caller, name, length, &label);
	uint64_t depth;

	if (!user)
		return;
	depth = begin ? words_load(&user->depth) : region_find(user, label);
	if (begin && depth < SEGMENT_REGIONS) {
		words_store(&user->regions[depth].label, label);
		words_store(&user->regions[depth].since, user_now());
		atomic_store_explicit(&user->depth, depth + 1, memory_order_release);
	}
	region_end(caller, user, begin ? 0 : depth);
}

/* ---- functions (hooks.h) ---- */

/* Is the region at this depth one of a function? */
static bool is_hooked(struct segment_user *user, const struct hook_open *opens, uint64_t depth)
{
	return depth > 0 && opens[depth - 1].frame &&
	       (opens[depth - 1].label | SEGMENT_REGION_FUNCTION) ==
		       words_load(&user->regions[depth - 1].label);
}

/* How deep regions are, without functions that have ended without a word: left by longjmp(3), or
 * switched off before. */
static uint64_t hooked_depth(struct segment_user *user, const struct hook_open *opens,
			     uint64_t frame)
{
	uint64_t depth = words_load(&user->depth);

	if (depth > SEGMENT_REGIONS)
		depth = SEGMENT_REGIONS;
	while (is_hooked(user, opens, depth) && opens[depth - 1].frame < frame)
		depth--;
	return depth;
}

static void hooked_begin(struct segment_user *user, struct hook_open *opens, uint64_t frame,
			 uint32_t label)
{
	uint64_t depth = hooked_depth(user, opens, frame);

	/* those of the same frame may be what this one was inlined into, unless there is no room */
	if (depth == SEGMENT_REGIONS)
		while (is_hooked(user, opens, depth) && opens[depth - 1].frame == frame)
			depth--;
	if (depth < SEGMENT_REGIONS) {
		opens[depth] = (struct hook_open){frame, label, 0};
		words_store(&user->regions[depth].label, label | SEGMENT_REGION_FUNCTION);
		words_store(&user->regions[depth].since, user_now());
		depth++;
	} else {
		opens[depth - 1].beyond++;
	}
	atomic_store_explicit(&user->depth, depth, memory_order_release);
}

/* The depth of the one that ends, 0: it was not begun. Its frame is the same, unless it has taken
 * memory of the stack since (alloca(3)): then it is the innermost one. */
static uint64_t hooked_find(struct segment_user *user, struct hook_open *opens, uint64_t frame,
			    uint32_t label)
{
	uint64_t innermost = hooked_depth(user, opens, frame), depth = innermost;

	while (depth > 0 && !(is_hooked(user, opens, depth) && opens[depth - 1].label == label &&
			      opens[depth - 1].frame == frame))
		depth--;
	if (depth > 0 || !is_hooked(user, opens, innermost))
		return depth;
	if (opens[innermost - 1].beyond > 0)
		opens[innermost - 1].beyond--;
	else if (opens[innermost - 1].label == label)
		return innermost;
	return 0;
}

static void user_function(const char *name, size_t length, struct hook_open *opens, uint64_t frame,
			  int begin)
{
	const struct collect_caller caller = COLLECT_CALLER;
	uint32_t label;
	struct segment_user *user = region_enter(caller, name, length, &label);

	if (!user)
		return;
	if (begin)
		hooked_begin(user, opens, frame, label);
	region_end(caller, user, begin ? 0 : hooked_find(user, opens, frame, label));
}

static void user_phase(const char *name, size_t length)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct segment_user *user = user_enter(caller);
	uint64_t before, since, now;

	if (!user)
		return;
	before = words_load(&user->phase);
	since = words_load(&user->phase_since);
	now = user_now();
	words_store(&user->phase_since, now);
	words_store(&user->iterated, now);
	words_store(&user->phase,
		    length ? segment_label_make(collect_self.segment, name, length) : 0);
	if (before)
		user_leave(caller, OP_EVSPACE_PHASE, (uint32_t)before, since, now);
	else
		collect_leave(caller);
}

static void user_iteration(uint64_t number)
{
	const struct collect_caller caller = COLLECT_CALLER;
	struct segment_user *user = user_enter(caller);
	uint64_t since, now;

	if (!user)
		return;
	since = words_load(&user->iterated);
	now = user_now();
	words_store(&user->iterated, now);
	words_store(&user->iteration, number + 1);
	user_leave(caller, OP_EVSPACE_ITERATION, (uint32_t)number, since, now);
}

static void user_block(uint32_t number)
{
	const struct collect_caller caller = COLLECT_CALLER;
	uint64_t now;

	if (!user_enter(caller))
		return;
	now = user_now();
	user_leave(caller, OP_EVSPACE_STATE, number, now, now);
}

void user_begin(void)
{
	__atomic_store_n(&evspace_calls_1.region, user_region, __ATOMIC_RELEASE);
	__atomic_store_n(&evspace_calls_1.phase, user_phase, __ATOMIC_RELEASE);
	__atomic_store_n(&evspace_calls_1.iteration, user_iteration, __ATOMIC_RELEASE);
	__atomic_store_n(&evspace_calls_1.block, user_block, __ATOMIC_RELEASE);
	evspace_door_hooks(segment_functions_own(collect.segment), user_function);
}
