/* SPDX-License-Identifier: BSD-3-Clause */
/* Owners of probes that are known by name, over any number of connections: their probes last as
 * long as their leases. */
#ifndef EVSPACE_OWNER_H
#define EVSPACE_OWNER_H

#include "consumers/mir/probe.h"

/** Most of them at once. */
#define OWNERS_MAX 64u

struct named_owner {
	struct probe_owner owner; /* first: its address is this one's */
	LIST_ENTRY(named_owner) link;
	uint64_t until_ns; /* when its lease is over */
};

/** All of them. Zeroed at first, but for the lease. */
struct owners {
	LIST_HEAD(, named_owner) list;
	uint64_t lease_ns; /* how long probes outlive the last request of their owner */
};

/** The owner of that name; its lease begins anew. Returns NULL if there are too many. */
struct probe_owner *owner_find(struct owners *owners, const char *name);

/** Let those go whose lease is over, or @all. Returns in how many ms the next one is, -1: never. */
int owners_run(struct owners *owners, struct probes *probes, bool all);

#endif
