/* SPDX-License-Identifier: BSD-3-Clause */
/* Named owners of probes come with their first request and go with their lease. */
#include "consumers/mir/owner.h"

#include <stdlib.h>
#include <string.h>

#include "consumers/mir/probing.h"
#include "pathmap/base/memory.h"
#include "tree/data/clock.h"

struct probe_owner *owner_find(struct owners *owners, const char *name)
{
	struct named_owner *o;
	unsigned n = 0;

	LIST_FOREACH (o, &owners->list, link) {
		if (strcmp(o->owner.name, name) == 0)
			break;
		n++;
	}
	if (!o) {
		if (n >= OWNERS_MAX)
			return NULL;
		o = memory_new(1, sizeof(*o));
		o->owner.name = memory_copy(name);
		LIST_INSERT_HEAD(&owners->list, o, link);
	}
	o->until_ns = clock_mono_ns() + owners->lease_ns;
	return &o->owner;
}

int owners_run(struct owners *owners, struct probes *probes, bool all)
{
	uint64_t now = clock_mono_ns(), first = UINT64_MAX;
	struct named_owner *o, *next;

	for (o = LIST_FIRST(&owners->list); o; o = next) {
		next = LIST_NEXT(o, link);
		/* whoever waits for an answer is there */
		if (o->owner.errands > 0)
			continue;
		if (!all && now < o->until_ns) {
			first = o->until_ns < first ? o->until_ns : first;
			continue;
		}
		probing_leave(probes, &o->owner);
		LIST_REMOVE(o, link);
		free(o->owner.name);
		free(o);
	}
	return first == UINT64_MAX ? -1 : (int)((first - now) / 1000000 % 60000) + 1;
}
