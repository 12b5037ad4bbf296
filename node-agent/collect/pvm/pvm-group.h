/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of PVM tasks as communicators: their ids are hashes of their names. */
#ifndef EVSPACE_PVM_GROUP_H
#define EVSPACE_PVM_GROUP_H

#include <stdint.h>

#include "node-agent/collect/core/collect.h"

/** A group. Like PVM, only for one thread at a time. */
struct pvm_group {
	struct collect_classes classes; /* comm: its id, the same in all tasks */
	uint32_t collectives; /* number of the next one, counted by this task since it joined */
	int instance;	      /* of this task in it; -1: it is no member */
};

/** All tasks of the run. */
extern struct pvm_group pvm_world;

/** The group called @name, even if this task is not a member. Never NULL. */
struct pvm_group *pvm_group_at(const char *name);

/** Count a collective of the group. Returns its number. */
static inline uint32_t pvm_group_next(struct pvm_group *group)
{
	return group->collectives++;
}

/** Record that this task (@tid) has become a member, by @instance, and restart its count. */
void pvm_group_join(struct pvm_group *group, int32_t tid, int instance);

/** The process has become the task @tid of the run with the id @world: drop all groups. */
void pvm_group_init(uint32_t world, int32_t tid);

/** The hash of a group's or a run's name; never 0. */
uint32_t pvm_group_hash(const char *name);

#endif
