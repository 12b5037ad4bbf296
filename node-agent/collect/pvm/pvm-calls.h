/* SPDX-License-Identifier: BSD-3-Clause */
/* What the generated PVM wrappers do before and after the real call (shapes: tree/data/ops.tab). */
#ifndef EVSPACE_PVM_CALLS_H
#define EVSPACE_PVM_CALLS_H

#include "node-agent/collect/core/collect.h"
#include "node-agent/collect/pvm/pvm-bytes.h"
#include "node-agent/collect/pvm/pvm-group.h"
#include "node-agent/collect/pvm/pvm-library.h"
#include "node-agent/collect/pvm/pvm-process.h"

/** Enter an operation of @channel. False: just make the real call. */
static inline __attribute__((always_inline)) bool pvm_enter(struct collect_caller caller,
							    struct collect_classes *classes,
							    unsigned channel)
{
	if (__builtin_expect(!pvm_process.task, 0))
		return pvm_process_enter();
	return collect_enter_any(caller, classes, channel) == COLLECT_RECORD;
}

/** Is this a call by the library itself, or nested in another call of the program? */
static inline bool pvm_is_nested(struct collect_caller caller)
{
	return pvm_process.joining ||
	       (collect_self.state > COLLECT_IDLE && !collect_is_left(&collect_self, caller.frame));
}

/** The task of a receive; -1 is PVM's "any". */
static inline int32_t pvm_peer(int tid)
{
	return tid == -1 ? TUPLE_ANY_PEER : tid;
}

/** The number of a collective on the group, counted even if it is not recorded. */
static inline uint32_t pvm_number(struct collect_caller caller, struct pvm_group *at)
{
	return pvm_is_nested(caller) ? 0 : pvm_group_next(at);
}

/** Fill *@t, take the time and write the state line. @at: NULL if it concerns no group. */
static inline __attribute__((always_inline)) void pvm_begin(struct tuple *t, uint16_t op,
							    const struct pvm_group *at,
							    int32_t peer, uint32_t tag,
							    uint64_t bytes)
{
	*t = (struct tuple){
		.bytes = bytes,
		.peer = peer,
		.seq_or_tag = tag,
		.comm = at ? at->classes.comm : 0,
		.op = op,
	};
	if (__builtin_expect(pvm_process.task, 1))
		collect_begin(t);
	else
		t->start = clock_ticks(clock_kind());
}

/** The real call has returned. */
static inline __attribute__((always_inline)) void pvm_stamp(struct tuple *t)
{
	if (__builtin_expect(pvm_process.task, 1))
		collect_stamp(t);
	else
		t->end = clock_ticks(clock_kind());
}

/** End the first call of a process: if it is a task now, make its segment, and record the call. */
void pvm_end_first(struct collect_caller caller, struct tuple *t, struct pvm_group *at,
		   unsigned channel);

/** End the call, which has returned @rc: less than 0 is an error. */
static inline __attribute__((always_inline)) void pvm_end(struct collect_caller caller,
							  struct tuple *t, struct pvm_group *at,
							  unsigned channel, int rc)
{
	if (__builtin_expect(rc < 0, 0)) {
		t->flags |= TUPLE_FAILED;
		t->bytes = 0;
	}
	if (__builtin_expect(pvm_process.task, 1))
		collect_end(caller, t, at ? &at->classes : &collect_none, channel);
	else
		pvm_end_first(caller, t, at, channel);
}

/** Leave a call that found no message: it is counted, and writes no tuple. */
void pvm_vain(struct collect_caller caller, unsigned channel);

/** Begin @t for a message that was just found, by a call that mostly finds none. */
static inline void pvm_found(struct tuple *t, uint16_t op, const struct pvm_group *at, int32_t peer,
			     uint32_t tag)
{
	*t = (struct tuple){.peer = peer, .seq_or_tag = tag, .comm = at->classes.comm, .op = op};
	pvm_stamp(t);
	t->start = t->end;
}

/** A call that is not recorded, nor calls within it. */
struct pvm_ask {
	uint64_t start;
};

/** Enter it. False: just make the real call. */
static inline bool pvm_ask_enter(struct collect_caller caller, struct pvm_ask *ask)
{
	if (__builtin_expect(!pvm_process.task, 0)) {
		ask->start = clock_ticks(clock_kind());
		return pvm_process_enter();
	}
	return collect_enter_quietly(caller);
}

/** It was the first call of the process: if that is a task now, this call is recorded. */
void pvm_ask_first(struct collect_caller caller, const struct pvm_ask *ask, uint16_t op);

static inline __attribute__((always_inline)) void pvm_ask_leave(struct collect_caller caller,
								const struct pvm_ask *ask,
								uint16_t op)
{
	if (__builtin_expect(pvm_process.task, 1))
		collect_leave(caller);
	else
		pvm_ask_first(caller, ask, op);
}

#endif
