/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts for each member of a group how many barriers it has had that were not for all. */
#include "consumers/analysis/group-number.h"

#include <stdlib.h>

#include "pathmap/base/hash.h"
#include "pathmap/base/memory.h"

/* The joining has number 0. */
#define FIRST 1u

struct group_member {
	struct group_member_key {
		uint32_t group, process;
	} key;
	uint32_t next;	 /* its number, if none is missing */
	uint32_t parted; /* barriers for some alone */
	bool hole;	 /* calls are missing */
	UT_hash_handle hh;
};

struct group_known {
	uint32_t group;
	uint32_t size; /* the largest that was said */
	bool parted;   /* it has had barriers for some alone */
	UT_hash_handle hh;
};

struct group_numbers {
	size_t most;
	struct group_member *members;
	struct group_known *groups; /* not more than members */
};

struct group_numbers *group_numbers_new(size_t most)
{
	struct group_numbers *n = memory_new(1, sizeof(*n));

	n->most = most;
	return n;
}

void group_numbers_free(struct group_numbers *n)
{
	struct group_member *m, *next_member;
	struct group_known *g, *next_group;

	if (!n)
		return;
	HASH_ITER(hh, n->members, m, next_member)
	{
		HASH_DEL(n->members, m);
		free(m);
	}
	HASH_ITER(hh, n->groups, g, next_group)
	{
		HASH_DEL(n->groups, g);
		free(g);
	}
	free(n);
}

static struct group_known *known_of(struct group_numbers *n, const struct group_call *call)
{
	struct group_known *g;

	HASH_FIND(hh, n->groups, &call->group, sizeof(call->group), g);
	if (!g) {
		g = memory_new(1, sizeof(*g));
		g->group = call->group;
		HASH_ADD(hh, n->groups, group, sizeof(g->group), g);
	}
	g->size = call->size > g->size ? call->size : g->size;
	g->size = call->tasks > g->size ? call->tasks : g->size;
	return g;
}

/* NULL: no more room. */
static struct group_member *member_of(struct group_numbers *n, const struct group_call *call)
{
	const struct group_member_key key = {call->group, call->process};
	struct group_member *m;

	HASH_FIND(hh, n->members, &key, sizeof(key), m);
	if (m || HASH_COUNT(n->members) >= n->most)
		return m;
	m = memory_new(1, sizeof(*m));
	m->key = key;
	m->next = FIRST;
	HASH_ADD(hh, n->members, key, sizeof(m->key), m);
	return m;
}

enum group_numbered group_number(struct group_numbers *n, const struct group_call *call,
				 uint32_t *number)
{
	struct group_member *m = member_of(n, call);
	struct group_known *g;

	if (!m)
		return GROUP_CROWDED;
	g = known_of(n, call);
	/* it has joined again */
	if (call->number == FIRST) {
		m->hole = false;
		m->parted = 0;
	} else if (call->number != m->next) {
		m->hole = true;
	}
	m->next = call->number + 1;
	if (call->tasks && call->tasks < g->size) {
		g->parted = true;
		m->parted++;
		return GROUP_PARTED;
	}
	if (g->parted && m->hole)
		return GROUP_UNKNOWN;
	*number = call->number - m->parted;
	return GROUP_NUMBERED;
}
