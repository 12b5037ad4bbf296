/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of PVM tasks as communicators: their ids are hashes of their names. */
#ifndef EVSPACE_PVM_GROUP_H
#define EVSPACE_PVM_GROUP_H

#include <stdint.h>

#include "node-agent/collect/core/collect.h"

/** What is known of a group. PVM is for one thread at a time, and so is this. */
struct pvm_group {
	struct collect_classes classes; /* comm: its id, the same in all tasks */
	uint32_t collectives; /* number of the next one, as this task counts since it joined */
};

/** All tasks of the run. */
extern struct pvm_group pvm_world;

/** The group called @name, which may be none of ours. Never NULL. */
struct pvm_group *pvm_group_at(const char *name);

/** Count a collective of the group: its number. */
static inline uint32_t pvm_group_next(struct pvm_group *group)
{
	return group->collectives++;
}

/** This task (@tid) has become a member: on record in the segment. Its count begins anew. */
void pvm_group_join(struct pvm_group *group, int32_t tid);

/** The process has become the task @tid of the run with the id @world, and knows no group yet. */
void pvm_group_init(uint32_t world, int32_t tid);

/** The hash of a group's or a run's name; never 0. */
uint32_t pvm_group_hash(const char *name);

#endif
