/* SPDX-License-Identifier: BSD-3-Clause */
/* How the run stands that is looked at: is it there at all, and when has it ended. */
#ifndef EVSPACE_STANDING_H
#define EVSPACE_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/options.h"

/** What was seen so far; zeros to begin with. */
struct standing {
	bool settled;	   /* the run is there, and what is to be said of it was said */
	bool awaiting;	   /* that hosts do not answer was said */
	uint64_t since_ns; /* nothing of it is seen; CLOCK_MONOTONIC */
};

/**
 * Take in the wave that evspace_next() has brought. A run that had ended before is said to have, on
 * stderr; @last: there will be no other wave. Returns -1 to go on, or the exit code when no host
 * has such a run, after one message. Hosts that do not answer are waited for.
 */
int standing_take(struct standing *standing, const char *command, const struct common *common,
		  const struct evspace_client *client, bool last);

#endif
