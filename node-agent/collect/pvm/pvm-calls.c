/* SPDX-License-Identifier: BSD-3-Clause */
/* Rare cases of PVM calls: the first one of a task, and polls that find nothing. */
#include "node-agent/collect/pvm/pvm-calls.h"

void pvm_end_first(struct collect_caller caller, struct tuple *t, struct pvm_group *at,
		   unsigned channel)
{
	struct collect_classes *classes = at ? &at->classes : &collect_none;

	if (!pvm_process_entered() || collect_enter(caller, classes, channel) != COLLECT_RECORD)
		return;
	t->comm = classes->comm;
	collect_end(caller, t, classes, channel);
}

void pvm_vain(struct collect_caller caller, unsigned channel)
{
	if (!pvm_process.task &&
	    (!pvm_process_entered() ||
	     collect_enter(caller, &pvm_world.classes, channel) != COLLECT_RECORD))
		return;
	atomic_store_explicit(&collect_self.entry->state.what, 0, memory_order_relaxed);
	collect_poll(caller);
}

void pvm_ask_first(struct collect_caller caller, const struct pvm_ask *ask, uint16_t op)
{
	struct tuple t = {
		.start = ask->start,
		.end = clock_ticks(clock_kind()),
		.peer = TUPLE_NO_PEER,
		.op = op,
	};

	pvm_end_first(caller, &t, NULL, CHANNEL_ENV);
}
