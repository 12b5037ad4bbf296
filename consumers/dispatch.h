/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatch: talks to all posts, several at once, and takes what came of each. */
#ifndef EVSPACE_DISPATCH_H
#define EVSPACE_DISPATCH_H

#include "consumers/post.h"

/** Called with each post that has ended, well or not. */
typedef void dispatch_done(void *arg, const struct post *post);

/** How it is done. */
struct dispatch_way {
	unsigned at_once;   /* posts under way at most */
	unsigned timeout_s; /* until a host answers at all */
	dispatch_done *done;
	void *arg;
};

/**
 * Have every post do what its header says. What came of each is in post->result and post->text.
 * Returns 0 when all have ended, or -1 when SIGINT or SIGTERM came: then those that were under way
 * have been broken off, and have failed.
 */
int dispatch_run(struct posts *posts, const struct dispatch_way *way);

#endif
