/* SPDX-License-Identifier: BSD-3-Clause */
/* An ending: whether a run is over and all that is left of it has come. */
#ifndef EVSPACE_ENDING_H
#define EVSPACE_ENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/client/evspace-client.h"

/** What was seen so far; zeros to begin with. */
struct ending {
	unsigned quiet;	    /* waves in a row that found no process alive and brought nothing */
	uint64_t passed_by; /* tuples so far, delivered or not */
	bool lived;	    /* a process was seen alive */
};

/**
 * Take in the wave that evspace_next() has brought; @any: it brought something. Returns whether no
 * process lives that could write more, nobody is missing, and nothing is left to come.
 */
bool ending_reached(struct ending *ending, struct evspace_client *client, bool any);

/** Is that the end that the user waits for? @until_end: he has said so; @limited: he has said
 * another. Of a run that had ended before there is no other. */
bool ending_is_meant(const struct ending *ending, bool until_end, bool limited);

#endif
