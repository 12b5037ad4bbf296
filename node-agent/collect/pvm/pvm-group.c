/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps groups in a fixed table by the hash of their names, and members in the segment. */
#include "node-agent/collect/pvm/pvm-group.h"

#include "node-agent/collect/core/collect.h"
#include "node-agent/segment/segment-table.h"

#define GROUPS 256u

struct pvm_group pvm_world;

static struct pvm_group groups[GROUPS];
static struct pvm_group unknown = {.instance = -1};

uint32_t pvm_group_hash(const char *name)
{
	uint32_t hash = 2166136261u;

	/* FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv) */
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash ? hash : 1;
}

struct pvm_group *pvm_group_at(const char *name)
{
	uint32_t id;

	if (!name || !*name)
		return &unknown;
	id = pvm_group_hash(name);
	for (uint32_t i = 0; i < GROUPS; i++) {
		struct pvm_group *group = &groups[(id + i) % GROUPS];

		if (group->classes.comm == id)
			return group;
		if (group->classes.comm == 0) {
			collect_classes_init(&group->classes, id);
			group->instance = -1;
			return group;
		}
	}
	return &unknown;
}

/* Record only this task: the other members are in their own segments. */
static void member_record(const struct pvm_group *group, uint32_t parent, int32_t tid)
{
	struct segment *s = collect.segment;
	int32_t *room = segment_members_take(s, 1);
	uint32_t members = SEGMENT_MEMBERS_UNKNOWN;

	if (room) {
		*room = tid;
		members = segment_members_keep(s, room, 1);
	}
	segment_comm_add(s, group->classes.comm, parent, 1, members);
}

void pvm_group_join(struct pvm_group *group, int32_t tid, int instance)
{
	group->instance = instance;
	group->collectives = 1; /* the joining itself was number 0 */
	if (group->classes.comm)
		member_record(group, pvm_world.classes.comm, tid);
	else
		atomic_fetch_or(&collect.segment->header->note, SEGMENT_NOTE_COMMS);
}

void pvm_group_init(uint32_t world, int32_t tid)
{
	/* old classes belong to the segment of an earlier task of this process */
	for (uint32_t i = 0; i < GROUPS; i++) {
		collect_classes_init(&groups[i].classes, groups[i].classes.comm);
		groups[i].collectives = 0;
		groups[i].instance = -1;
	}
	collect_classes_init(&unknown.classes, 0);
	collect_classes_init(&pvm_world.classes, world);
	member_record(&pvm_world, 0, tid);
}
