/* SPDX-License-Identifier: BSD-3-Clause */
/* The process as a member of a run: its segment is made by the settings and switched as they say.
 */
#ifndef EVSPACE_MEMBER_H
#define EVSPACE_MEMBER_H

#include <stdint.h>

#include "node-agent/collect/core/settings.h"

/** Who the process is in its run. */
struct member {
	int32_t rank;	 /* world rank, or task id */
	int32_t size;	 /* of the world; 0: tasks come and go */
	uint32_t world;	 /* id of the world */
	uint32_t parent; /* id of the world that has spawned this one, 0: none */
};

/**
 * Make the process's segment, and begin to collect. Returns 0, or -1: the reason is on record in
 * the run's folder, if that is there, and the program must not hear of it.
 */
int member_start(const struct member *member, const struct settings *settings);

/** Not to be collected, for @reason: leave word in the run's folder. */
void member_refuse(const struct member *member, const struct settings *settings,
		   const char *reason);

/** The process has ended its part as it should: mark the segment finished, if there is one. */
void member_finished(void);

#endif
