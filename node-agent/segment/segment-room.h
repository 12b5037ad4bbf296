/* SPDX-License-Identifier: BSD-3-Clause */
/* Reserves memory for a segment; ended runs make way where they have used it up. */
#ifndef EVSPACE_SEGMENT_ROOM_H
#define EVSPACE_SEGMENT_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "pathmap/base/error.h"

/** What is to be reserved. */
struct segment_room {
	int dir;	  /* the run's folder, open */
	const char *path; /* what messages call it */
	int fd;		  /* the file, which has its name in @dir already */
	uint64_t size;	  /* bytes */
	uint64_t quota;	  /* bytes of all of the user's files; 0: segment_usage()'s default */
	bool replaces;	  /* ended runs may be removed for it */
	unsigned n_removed, n_named; /* how many were, how many of them stand in: */
	char removed[128];	     /* "a, b and 12 more" */
};

/**
 * Reserve it, really and within the quota. If there is no room and r->replaces, the oldest runs
 * beside the folder go until there is: those that have ended, that no `evspace run` holds, that no
 * agent reads or is to hand over to another node, and that have no mirrors of other nodes. None
 * goes if all of them are too few. It takes three seconds at most. Returns 0, or -1 with errno
 * (ENOSPC, EDQUOT …) and the remedy in @e.
 */
int segment_room_reserve(struct segment_room *r, struct error *e);

#endif
