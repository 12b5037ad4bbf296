/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the wanted run: does it exist, and has it ended? */
#ifndef EVSPACE_STANDING_H
#define EVSPACE_STANDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "consumers/cli/options.h"

/** The state so far; zeroed at first. */
struct standing {
	bool settled;	     /* the run is there, and all was said about it */
	bool awaiting;	     /* it was said that hosts do not answer */
	bool matched;	     /* what is selected is there, or it was said that it is not */
	bool asked;	     /* asked which run it is, as the user has named none */
	unsigned unreadable; /* processes, as far as they were reported */
	uint64_t since_ns;   /* nothing of it is seen; CLOCK_MONOTONIC */
	char run[64];	     /* the answer; "": none */
};

/**
 * Take the wave of the last evspace_next(). If the run had ended before, says so on stderr; @last:
 * there will be no other wave. Returns -1 to go on, or the exit code when no host has such a run,
 * after a message. Hosts that do not answer are waited for.
 */
int standing_take(struct standing *standing, const char *command, const struct common *common,
		  struct evspace_client *client, bool last);

/** The time is over: the last wave is final. Returns the exit code. */
int standing_end(struct standing *standing, const char *command, const struct common *common,
		 struct evspace_client *client);

/** Say once, on stderr, that it waits for the run. */
void standing_wait(struct standing *standing, const char *command, const struct common *common);

/** Say that it has waited in vain. Returns the exit code. */
int standing_none(const char *command, const struct common *common);

/** The name of the run that is looked at, "" while there is none. If the user has named none, and
 * none was live at the start, asks for its name once, when something of it is seen. Valid until the
 * next call. */
const char *standing_run(struct standing *standing, const struct common *common,
			 struct evspace_client *client);

/** Why elements cannot be read. */
#define STANDING_UNREADABLE "not collected, or their files are damaged or of another release"

/** Has the last wave nothing to show: no run, and no host that does not answer? */
bool standing_is_empty(const struct evspace_client *client);

/** List on @out the hosts with damaged files, a line each, after @prefix. Returns whether there are
 * any. */
bool standing_say_unreadable(const struct evspace_client *client, const char *prefix, FILE *out);

/** The same on stderr, once, and again if there are more. */
void standing_note_unreadable(struct standing *standing, const char *command,
			      const struct evspace_client *client);

#endif
