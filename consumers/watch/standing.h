/* SPDX-License-Identifier: BSD-3-Clause */
/* How the run stands that is looked at: is it there at all, and when has it ended. */
#ifndef EVSPACE_STANDING_H
#define EVSPACE_STANDING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "consumers/cli/options.h"

/** What was seen so far; zeros to begin with. */
struct standing {
	bool settled;	     /* the run is there, and what is to be said of it was said */
	bool awaiting;	     /* that hosts do not answer was said */
	bool matched;	     /* what is selected is there, or that it is not was said */
	bool asked;	     /* which run it is that nobody has named */
	unsigned unreadable; /* processes, of which was said so */
	uint64_t since_ns;   /* nothing of it is seen; CLOCK_MONOTONIC */
	char run[64];	     /* what was answered; "": nothing was */
};

/**
 * Take in the wave that evspace_next() has brought. A run that had ended before is said to have, on
 * stderr; @last: there will be no other wave. Returns -1 to go on, or the exit code when no host
 * has such a run, after one message. Hosts that do not answer are waited for.
 */
int standing_take(struct standing *standing, const char *command, const struct common *common,
		  const struct evspace_client *client, bool last);

/** The time is over: the wave that came last was the last one. Returns the exit code. */
int standing_end(struct standing *standing, const char *command, const struct common *common,
		 const struct evspace_client *client);

/** Say once, on stderr, that the run is waited for. */
void standing_wait(struct standing *standing, const char *command, const struct common *common);

/** Say that it was waited for in vain. Returns the exit code. */
int standing_none(const char *command, const struct common *common);

/** The name of the run that is looked at, "" while there is none. One that nobody has named, and
 * that was not live at the start, is asked for once, when something of it was seen. Valid until the
 * next call. */
const char *standing_run(struct standing *standing, const struct common *common,
			 const struct evspace_client *client);

/** Why elements cannot be read. */
#define STANDING_UNREADABLE "not collected, or their files are damaged or of another release"

/** Has the last wave nothing to be shown: no run, and no host that does not answer? */
bool standing_is_empty(const struct evspace_client *client);

/** Say on @out which hosts have files that are damaged, a line each, behind @prefix. Returns
 * whether there are any. */
bool standing_say_unreadable(const struct evspace_client *client, const char *prefix, FILE *out);

/** The same on stderr, once, or when they become more. */
void standing_note_unreadable(struct standing *standing, const char *command,
			      const struct evspace_client *client);

#endif
