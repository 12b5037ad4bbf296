/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies communicators out of segments, guarded: what is in the file may change, or be cut off. */
#include "node-agent/row-comm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tree/process.h"

struct copy {
	const struct segment *segment;
	uint32_t i;
	bool complete;
	struct segment_comm comm;
	int32_t *members;
};

static int copy_comm(void *arg)
{
	struct copy *c = arg;
	const struct segment_comm *comm =
		c->i < segment_comms(c->segment) ? segment_comm(c->segment, c->i) : NULL;

	c->complete = comm != NULL;
	if (comm)
		memcpy(&c->comm, comm, sizeof(c->comm));
	return 0;
}

static int copy_members(void *arg)
{
	struct copy *c = arg;

	for (uint32_t i = 0; i < c->comm.size; i++)
		c->members[i] = segment_member(c->segment, &c->comm, i);
	return 0;
}

/* Are its members on record, and can we afford them? A damaged file may have all of its room as
 * members of each of its communicators. */
static bool is_listed(const struct copy *c, struct row_comms *taken)
{
	const struct segment_comm *comm = &c->comm;

	if (comm->members == SEGMENT_MEMBERS_WORLD || comm->members == SEGMENT_MEMBERS_UNKNOWN ||
	    comm->size > c->segment->layout.members_max ||
	    comm->size > ROW_MEMBERS_MAX - taken->members)
		return false;
	taken->members += comm->size;
	return true;
}

int row_comms_take(const struct segment *s, struct names *names, struct row_comms *taken)
{
	struct copy c = {.segment = s};

	for (;; taken->seen++) {
		bool listed;

		c.i = taken->seen;
		if (segment_guarded(copy_comm, &c) < 0)
			return -1;
		if (!c.complete)
			return 0;
		listed = is_listed(&c, taken);
		c.members = listed ? calloc(c.comm.size ? c.comm.size : 1, sizeof(int32_t)) : NULL;
		if (listed && (!c.members || segment_guarded(copy_members, &c) < 0)) {
			free(c.members);
			return -1;
		}
		/* All members record it, and once is enough; but PVM's tasks each say that they are
		 * in a group. */
		if (!names_comm_find(names, c.comm.id) ||
		    (c.members && c.comm.size && process_is_task(c.members[0])))
			names_comm_learn(names, c.comm.id, c.comm.parent, c.comm.size,
					 c.comm.members == SEGMENT_MEMBERS_WORLD, c.members);
		free(c.members);
	}
}
