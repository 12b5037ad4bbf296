/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch: talks to all posts, several at once, and takes what came of each. */
#ifndef EVSPACE_PARALLEL_H
#define EVSPACE_PARALLEL_H

#include "consumers/deploy/target.h"

/** Called with each post that has ended, well or not. */
typedef void parallel_done(void *arg, const struct target *post);

/** How it is done. */
struct parallel_way {
	unsigned at_once;   /* posts under way at most */
	unsigned timeout_s; /* until a host answers at all */
	parallel_done *done;
	void *arg;
};

/**
 * Have every post do what its header says. What came of each is in post->result and post->text.
 * Returns 0 when all have ended, or -1 when SIGINT or SIGTERM came: then those that were under way
 * have been broken off, and have failed.
 */
int parallel_run(struct targets *posts, const struct parallel_way *way);

#endif
