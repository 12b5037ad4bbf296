/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies communicators and labels from segments by guarded reads: the file may change, or be cut
 * short. */
#include "node-agent/source/row-names.h"

#include <stdlib.h>
#include <string.h>

#include "node-agent/segment/segment-read.h"
#include "tree/data/names-comm.h"
#include "node-agent/segment/segment-table.h"

/* Entries that are copied at a time: all that a program has. */
#define COPY 256u

/* Members to learn in one go. */
#define MEMBERS (1u << 16)

struct row_comm_copy {
	const struct segment *segment;
	struct row_comms *taken;
	uint32_t count;
	bool more; /* after those */
	struct row_comm_entry {
		bool complete; /* complete, and unchanged while it was copied */
		uint32_t made;
		struct segment_comm comm;
	} entries[COPY];
	/* the one whose members are copied */
	const struct segment_comm *comm;
	int32_t *members;
};

static uint32_t remade_of(const struct segment *s)
{
	return atomic_load_explicit(&s->header->comms_remade, memory_order_acquire);
}

bool row_comms_changed(const struct segment *s, const struct row_comms *taken)
{
	return taken->passing || segment_comms(s) != taken->seen || remade_of(s) != taken->remade;
}

static void copy_comm(const struct segment *s, uint32_t i, struct row_comm_entry *to)
{
	const struct segment_comm *comm = segment_comm(s, i);

	to->complete = false;
	if (!comm)
		return;
	to->made = atomic_load_explicit(&comm->made, memory_order_acquire);
	memcpy(&to->comm, comm, sizeof(to->comm));
	atomic_thread_fence(memory_order_acquire);
	to->complete = segment_comm(s, i) &&
		       atomic_load_explicit(&comm->made, memory_order_relaxed) == to->made;
}

/* Copy the next entries; start over if some were reused. */
static int copy_comms(void *arg)
{
	struct row_comm_copy *c = arg;
	struct row_comms *taken = c->taken;
	uint32_t total;

	if (!taken->passing) {
		taken->goal = remade_of(c->segment);
		taken->at = taken->goal != taken->remade ? 0 : taken->seen;
		taken->making = false;
		taken->passing = true;
	}
	total = segment_comms(c->segment);
	for (c->count = 0; c->count < COPY && taken->at + c->count < total; c->count++)
		copy_comm(c->segment, taken->at + c->count, &c->entries[c->count]);
	c->more = taken->at + c->count < total;
	return 0;
}

static int copy_members(void *arg)
{
	struct row_comm_copy *c = arg;

	for (uint32_t i = 0; i < c->comm->size; i++)
		c->members[i] = segment_member(c->segment, c->comm, i);
	return 0;
}

/* Does the file have its members, and are they not too many? In a damaged file, each
 * communicator may claim the whole room as its members. */
static bool is_listed(const struct row_comm_copy *c)
{
	const struct segment_comm *comm = c->comm;

	if (comm->members == SEGMENT_MEMBERS_WORLD || comm->members == SEGMENT_MEMBERS_UNKNOWN ||
	    comm->size > c->segment->layout.members_max ||
	    comm->size > ROW_MEMBERS_MAX - c->taken->members)
		return false;
	c->taken->members += comm->size;
	return true;
}

/* Learn c->comm. Lists of members never change. Returns 0, or -1. */
static int comm_learn(struct row_comm_copy *c, struct names *names)
{
	const struct segment_comm *comm = c->comm;
	bool listed = is_listed(c);

	c->members = listed ? calloc(comm->size ? comm->size : 1, sizeof(int32_t)) : NULL;
	if (listed && (!c->members || segment_guarded(copy_members, c) < 0)) {
		free(c->members);
		return -1;
	}
	names_comm_learn(names, comm->id, comm->parent, comm->size,
			 comm->members == SEGMENT_MEMBERS_WORLD, c->members);
	free(c->members);
	return 0;
}

/* Learn what was copied: new entries that are complete, and reused ones. Returns 0, 1: there may
 * be more, or -1. */
static int take_comms(struct row_comm_copy *c, struct names *names)
{
	struct row_comms *taken = c->taken;
	const uint64_t members = taken->members;

	for (uint32_t i = 0; i < c->count; i++, taken->at++) {
		const struct row_comm_entry *entry = &c->entries[i];
		bool new = taken->at == taken->seen;

		if (taken->members - members >= MEMBERS)
			return 1;
		if (new && !entry->complete)
			return 0;
		taken->making |= !entry->complete;
		c->comm = &entry->comm;
		if (entry->complete && (new || (int32_t)(entry->made - taken->remade) > 0) &&
		    comm_learn(c, names) < 0)
			return -1;
		taken->seen += new;
	}
	return c->more;
}

int row_comms_take(const struct segment *s, struct names *names, struct row_comms *taken)
{
	struct row_comm_copy c = {.segment = s, .taken = taken};
	int rc = segment_guarded(copy_comms, &c);

	if (rc == 0)
		rc = take_comms(&c, names);
	if (rc > 0)
		return 1;
	taken->passing = false;
	/* look again later for an incomplete one */
	if (!taken->making)
		taken->remade = taken->goal;
	return rc < 0 ? -1 : 0;
}

/* ---- labels ---- */

/* Slots that are copied at a time: all that a program has. */
#define COPY 256u

struct row_label_copy {
	const struct segment *segment;
	struct row_labels *taken;
	uint32_t count; /* of labels in the copied slots */
	uint32_t ids[COPY];
	char texts[COPY][SEGMENT_LABEL_TEXT];
};

bool row_labels_changed(const struct segment *s, const struct row_labels *taken)
{
	return taken->at > 0 || segment_labels(s) != taken->seen;
}

/* Copy the next slots, if there is anything new. */
static int copy_labels(void *arg)
{
	struct row_label_copy *c = arg;
	const uint32_t from = c->taken->at;

	c->count = 0;
	if (!row_labels_changed(c->segment, c->taken))
		return 0;
	if (from == 0)
		c->taken->goal = segment_labels(c->segment);
	for (uint32_t i = from; i - from < COPY && i < c->segment->layout.labels_max; i++) {
		const struct segment_label *label = segment_label(c->segment, i);

		if (!label)
			continue;
		c->ids[c->count] = label->id;
		memcpy(c->texts[c->count], label->text, SEGMENT_LABEL_TEXT);
		c->texts[c->count++][SEGMENT_LABEL_TEXT - 1] = '\0';
	}
	return 1;
}

int row_labels_take(const struct segment *s, struct names *names, struct row_labels *taken)
{
	struct row_label_copy c = {.segment = s, .taken = taken};
	int rc = segment_guarded(copy_labels, &c);

	if (rc <= 0)
		return rc;
	/* labels that are no text, or too many, get no name */
	for (uint32_t i = 0; i < c.count; i++)
		names_label_learn(names, c.ids[i], c.texts[i]);
	taken->at += COPY;
	if (taken->at < s->layout.labels_max)
		return 1;
	taken->at = 0;
	taken->seen = taken->goal;
	return 0;
}
