/* SPDX-License-Identifier: BSD-3-Clause */
/* What is rare in PVM calls: the first one of a task, and polls in vain. */
#include "node-agent/collect/pvm-calls.h"

void pvm_end_first(struct tuple *t, struct pvm_group *at, unsigned channel, const void *site)
{
	struct collect_classes *classes = at ? &at->classes : &collect_none;

	if (!pvm_process_entered() || collect_enter_from(site, classes, channel) != COLLECT_RECORD)
		return;
	t->comm = classes->comm;
	collect_end(t, classes, channel);
}

void pvm_vain(unsigned channel)
{
	if (!pvm_process.task && (!pvm_process_entered() ||
				  collect_enter(&pvm_world.classes, channel) != COLLECT_RECORD))
		return;
	atomic_store_explicit(&collect_self.entry->state.what, 0, memory_order_relaxed);
	collect_poll();
}

void pvm_ask_first(const struct pvm_ask *ask, uint16_t op, const void *site)
{
	struct tuple t = {
		.start = ask->start,
		.end = clock_ticks(clock_kind()),
		.peer = TUPLE_NO_PEER,
		.op = op,
	};

	pvm_end_first(&t, NULL, CHANNEL_ENV, site);
}
