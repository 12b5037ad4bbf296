/* SPDX-License-Identifier: BSD-3-Clause */
/* The process as a member of a run: makes its segment and sets its modes by the settings. */
#ifndef EVSPACE_MEMBER_H
#define EVSPACE_MEMBER_H

#include <stdint.h>

#include "node-agent/collect/core/settings.h"

/** The process's identity in its run. */
struct member {
	int32_t rank;	 /* world rank, or task id */
	int32_t size;	 /* of the world; 0: tasks come and go */
	uint32_t world;	 /* id of the world */
	uint32_t parent; /* id of the world that has spawned this one, 0: none */
};

/** Make the process's segment, and begin to collect. Returns 0, or -1 with the reason noted in
 * the run's folder, if that exists; the program must not notice. */
int member_start(const struct member *member, const struct settings *settings);

/** Note in the run's folder that the process is not collected, for @reason. */
void member_refuse(const struct member *member, const struct settings *settings,
		   const char *reason);

/** Mark the segment, if there is one, as finished: the process has ended its part as it should. */
void member_finished(void);

#endif
