/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads --subset of evspace phase. */
#include "consumers/phase/phase.h"
#include "pathmap/base/interval.h"
#include "pathmap/base/memory.h"

int phase_subset_read(struct phase *p, struct error *e)
{
	const char *text = p->subset;
	struct interval next;
	bool any = false;

	if (!text)
		return 0;
	p->in_subset = memory_new(p->shape.processes, sizeof(*p->in_subset));
	while (interval_next(&text, &next)) {
		if (next.to > p->shape.processes)
			return errorf(e, "--subset: there are processes 0 to %u",
				      p->shape.processes - 1);
		for (uint64_t i = next.from; i < next.to; i++)
			any = p->in_subset[i] = true;
	}
	if (*text || !any)
		return errorf(e, "--subset %.80s: it is a list of processes, as \"4-6,8\"",
			      p->subset);
	p->shape.subset = p->in_subset;
	return 0;
}
