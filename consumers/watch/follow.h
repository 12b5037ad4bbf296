/* SPDX-License-Identifier: BSD-3-Clause */
/* Follows a run wave by wave until its end, for the commands that show all of it. */
#ifndef EVSPACE_FOLLOW_H
#define EVSPACE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "consumers/cli/options.h"
#include "consumers/cli/toll.h"
#include "consumers/client/evspace-client.h"
#include "consumers/watch/standing.h"

/** What is followed, and the state so far; zeroed except for the first four. */
struct follower {
	const char *command; /* "events" */
	struct common common;
	struct evspace_client *client;
	bool until_end; /* until the end of the run */
	struct standing standing;
	bool unread;	    /* the reader has closed the pipe */
	uint64_t end_ns;    /* of the given time, CLOCK_MONOTONIC; 0: none */
	struct toll *toll;  /* what looking costs */
	unsigned quiet;	    /* waves in a row without live processes and records */
	uint64_t passed_by; /* tuples read so far, delivered or not */
	bool lived;	    /* a live process was seen */
	bool begun;	    /* something of the run was seen */
	uint64_t passed;    /* waves before that, which --count does not mean */
	struct {
		uint64_t lost, read; /* tuples since follow_tell_loss(), or since the last
				      * display */
		uint64_t before;     /* of the lost: they were gone before this began */
		uint64_t told_ns;    /* when follow_tell_loss() spoke, 0: never */
	} loss;
};

/** Take and show a wave. Sets *@seen to the number of waves so far, as --count counts them, and
 * returns whether it had any records. */
typedef bool follow_take(void *arg, uint64_t *seen);

/** Follow the run by an open client: until its end, an interrupt, or the end of the time. Returns
 * the exit code. */
int follow_run(struct follower *follow, follow_take *take, void *arg);

/** Say what looking has cost, the last thing that is said of a run: on stderr, or with --json as an
 * object on stdout. */
void follow_tell_cost(struct follower *follow);

/** Room for follow_loss_words(). */
#define FOLLOW_LOSS 240

/** "1,200 of 3,000 tuples lost; …" since `loss` was zeroed, and what to do, by the last wave, in
 * @buf (FOLLOW_LOSS); "": none. */
const char *follow_loss_words(const struct follower *follow, char *buf);

/** Say that on stderr: at once, then every ten seconds. */
void follow_tell_loss(struct follower *follow);

#endif
