/* SPDX-License-Identifier: BSD-3-Clause */
/* evspace watch: its state, shared by the command (watch.c), what it starts (watch-start.c) and
 * what it keeps (watch-save.c). */
#ifndef EVSPACE_WATCH_H
#define EVSPACE_WATCH_H

#include <sys/types.h>

#include "consumers/watch/alarm.h"
#include "consumers/watch/heartbeat.h"

/** What may be watched for. */
enum watch_kind { WATCH_DESYNC, WATCH_STUCK, WATCH_KINDS };

struct watch {
	struct heartbeat heartbeat; /* the looks; its common options; its words: the command */
	bool on[WATCH_KINDS];
	bool check;		   /* exit code 1 if something was seen */
	const char *pathmap, *run; /* for evspace run */
	char *name;		   /* of the run */
	const char *save;	   /* folder for what is kept; NULL: evspace-watch-RUN */
	char *folder;		   /* the same, once it is made */
	uint64_t last_ns;	   /* how far back events are kept */
	struct alarm alarms[WATCH_KINDS];
	unsigned seen; /* alarms so far */
	pid_t program; /* evspace run */
	pid_t agent;   /* one of our own; 0: none */
};

/** Connect to the agent, or start one for as long as it takes; then start the program. Returns -1
 * to go on, or the exit code after a message. */
int watch_start(struct watch *watch);

/** Has the program ended? Then *@code is its exit code. @wait: until it has. */
bool watch_ended(struct watch *watch, bool wait, int *code);

/** End what was started beside the program. */
void watch_stop(struct watch *watch);

/** Keep what is known now: @text, which was found, all threads, and the last events of all, in
 * files of their own. */
void watch_save(struct watch *watch, const char *kind, const char *text);

#endif
