/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies communicators out of segments, guarded: what is in the file may change, or be cut off. */
#include "node-agent/source/row-comm.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct row_comm_copy {
	const struct segment *segment;
	uint32_t i;
	uint32_t remade; /* that the segment says */
	bool complete;
	struct segment_comm comm;
	int32_t *members;
};

static int copy_comm(void *arg)
{
	struct row_comm_copy *c = arg;
	const struct segment_comm *comm =
		c->i < segment_comms(c->segment) ? segment_comm(c->segment, c->i) : NULL;

	c->complete = comm != NULL;
	if (comm)
		memcpy(&c->comm, comm, sizeof(c->comm));
	return 0;
}

static int copy_members(void *arg)
{
	struct row_comm_copy *c = arg;

	for (uint32_t i = 0; i < c->comm.size; i++)
		c->members[i] = segment_member(c->segment, &c->comm, i);
	return 0;
}

/* Is the entry still what was copied? */
static int copy_check(void *arg)
{
	struct row_comm_copy *c = arg;
	const struct segment_comm *comm;

	atomic_thread_fence(memory_order_acquire);
	comm = segment_comm(c->segment, c->i);
	c->complete = comm && atomic_load_explicit(&comm->made, memory_order_relaxed) ==
				      atomic_load_explicit(&c->comm.made, memory_order_relaxed);
	return 0;
}

static int copy_remade(void *arg)
{
	struct row_comm_copy *c = arg;

	c->remade = atomic_load_explicit(&c->segment->header->comms_remade, memory_order_acquire);
	return 0;
}

/* Are its members on record, and can we afford them? A damaged file may have all of its room as
 * members of each of its communicators. */
static bool is_listed(const struct row_comm_copy *c, struct row_comms *taken)
{
	const struct segment_comm *comm = &c->comm;

	if (comm->members == SEGMENT_MEMBERS_WORLD || comm->members == SEGMENT_MEMBERS_UNKNOWN ||
	    comm->size > c->segment->layout.members_max ||
	    comm->size > ROW_MEMBERS_MAX - taken->members)
		return false;
	taken->members += comm->size;
	return true;
}

/* Learn what was copied. Returns 0 (c->complete: it was not changed meanwhile), or -1. */
static int comm_learn(struct row_comm_copy *c, struct names *names, struct row_comms *taken)
{
	const struct segment_comm *comm = &c->comm;
	bool listed = is_listed(c, taken);

	c->members = listed ? calloc(comm->size ? comm->size : 1, sizeof(int32_t)) : NULL;
	if ((listed && (!c->members || segment_guarded(copy_members, c) < 0)) ||
	    segment_guarded(copy_check, c) < 0) {
		free(c->members);
		return -1;
	}
	if (c->complete)
		names_comm_learn(names, comm->id, comm->parent, comm->size,
				 comm->members == SEGMENT_MEMBERS_WORLD, c->members);
	free(c->members);
	return 0;
}

/* Of entries that were seen before, those that have been made again since. */
static int remade_take(struct row_comm_copy *c, struct names *names, struct row_comms *taken)
{
	bool all = true;

	for (c->i = 0; c->i < taken->seen; c->i++) {
		if (segment_guarded(copy_comm, c) < 0)
			return -1;
		if (c->complete && (int32_t)(c->comm.made - taken->remade) > 0 &&
		    comm_learn(c, names, taken) < 0)
			return -1;
		all &= c->complete;
	}
	/* one in the making is looked for again */
	if (all)
		taken->remade = c->remade;
	return 0;
}

int row_comms_take(const struct segment *s, struct names *names, struct row_comms *taken)
{
	struct row_comm_copy c = {.segment = s};

	if (segment_guarded(copy_remade, &c) < 0)
		return -1;
	if (c.remade != taken->remade && remade_take(&c, names, taken) < 0)
		return -1;
	for (;; taken->seen++) {
		c.i = taken->seen;
		if (segment_guarded(copy_comm, &c) < 0)
			return -1;
		if (!c.complete)
			return 0;
		if (comm_learn(&c, names, taken) < 0)
			return -1;
		if (!c.complete)
			return 0;
	}
}
