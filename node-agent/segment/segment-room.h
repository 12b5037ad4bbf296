/* SPDX-License-Identifier: BSD-3-Clause */
/* Reserves memory for a segment; removes ended runs if there is no room. */
#ifndef EVSPACE_SEGMENT_ROOM_H
#define EVSPACE_SEGMENT_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** What to reserve. */
struct segment_room {
	int dir;	  /* the run's folder, open */
	const char *path; /* its name in messages */
	int fd;		  /* the file, which has its name in dir already */
	uint64_t size;	  /* bytes */
	uint64_t quota;	  /* bytes of all of the user's files; 0: segment_usage()'s default */
	bool replaces;	  /* ended runs may be removed */
	unsigned n_removed, n_named; /* how many were; how many are in the list: */
	char removed[128];	     /* "a, b and 12 more" */
};

/**
 * Reserve it, allocated and within the quota. If there is no room and r->replaces, remove the
 * oldest runs beside the folder until there is: those that have ended, that no `evspace run` holds,
 * and that have no mirrors of other nodes. Those that an agent reads, or still passes on to another
 * node, go last. Removes none if all of them would not be enough. Takes three seconds at most.
 * Returns 0, or -1 with errno (ENOSPC, EDQUOT …) and the remedy in @e.
 */
int segment_room_reserve(struct segment_room *r, struct error *e);

#endif
