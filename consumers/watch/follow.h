/* SPDX-License-Identifier: BSD-3-Clause */
/* Following a run wave by wave until its end: what the commands have in common that show all of it.
 */
#ifndef EVSPACE_FOLLOW_H
#define EVSPACE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/cli/options.h"
#include "consumers/client/evspace-client.h"
#include "consumers/watch/standing.h"

/** What is followed, and what was seen so far; zeros to begin with but for the first four. */
struct follower {
	const char *command; /* "events" */
	struct common common;
	struct evspace_client *client;
	bool until_end; /* the user waits for the end of the run */
	struct standing standing;
	bool unread;	    /* nobody reads any more what is written */
	uint64_t end_ns;    /* of the time that was given, CLOCK_MONOTONIC; 0: there is no end */
	unsigned quiet;	    /* waves in a row that found no process alive and brought nothing */
	uint64_t passed_by; /* tuples so far, delivered or not */
	bool lived;	    /* a process was seen alive */
	bool begun;	    /* something of the run was seen */
	struct {
		uint64_t lost, read; /* tuples since it was said, or is_shown */
		uint64_t told_ns;    /* when follow_tell_loss() did, 0: never */
	} loss;
};

/** Take a wave in and show it. Says in *@seen how many there were, as --count counts them, and
 * returns whether there was anything in it. */
typedef bool follow_take(void *arg, uint64_t *seen);

/** Follow the run with a client that is open: until its end, the user's, or that of the time.
 * Returns the exit code. */
int follow_run(struct follower *follow, follow_take *take, void *arg);

/** Room for follow_loss_words(). */
#define FOLLOW_LOSS 240

/** "1,200 of 3,000 tuples lost; …" since `loss` was zeroed, with what helps as of the last wave, in
 * @buf (FOLLOW_LOSS); "": none. */
const char *follow_loss_words(const struct follower *follow, char *buf);

/** Say so on stderr: at once, then every ten seconds. */
void follow_tell_loss(struct follower *follow);

#endif
